// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef SYSTOLE_TESTS_ISS_VPU_FIXTURE_H_
#define SYSTOLE_TESTS_ISS_VPU_FIXTURE_H_

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "host/program/vpu_asm.h"
#include "sim/iss/iss.h"
#include "sim/iss/vpu_lanes.h"

namespace systole::iss {

inline constexpr uint64_t kCodeHbm = 0x8000, kCodeUb = 0x10000;
inline constexpr uint32_t kL = 8;

// A simulator of the `mini` preset that runs texts of vector code.
class VpuTest : public ::testing::Test {
 protected:
  VpuTest() : iss_(*FindPreset("mini"), 5) {}

  // Loads the code, runs it from its first instruction on.
  Iss::Event Run(const std::string& text,
                 const std::map<std::string, uint32_t>& args = {}) {
    const absl::StatusOr<vpu::Code> code =
        vpu::Assemble(text, "test", {{"L", kL}}, kBase);
    EXPECT_TRUE(code.ok()) << code.status();
    if (!code.ok()) return Iss::Event::kFaulted;
    const DataSegment s = vpu::Segment("t", kCodeHbm, code->words);
    iss_.state().hbm.Write(kCodeHbm, s.data);
    vpu::CodeLoad in = vpu::LoadCode(
        kCodeHbm, kCodeUb, static_cast<int64_t>(code->words.size()), kBase);
    in.load.header.post_mask = in.vload.header.wait_mask = 1;
    isa::Vrun run;
    run.pc = kBase;
    for (const auto& [name, value] : args)
      run.args[code->args.at(name)] = value;
    return RunAll({in.load.Encode(), in.vload.Encode(), run.Encode()});
  }
  Iss::Event RunAll(std::vector<isa::Descriptor> descriptors) {
    descriptors.push_back(isa::Halt{}.Encode());
    std::vector<uint8_t> bytes;
    for (const isa::Descriptor& d : descriptors) {
      for (uint64_t word : d) {
        for (int i = 0; i < 8; ++i)
          bytes.push_back(static_cast<uint8_t>(word >> 8 * i));
      }
    }
    iss_.state().hbm.Write(0, bytes);
    iss_.Reset();
    iss_.Start({0, static_cast<uint32_t>(descriptors.size()), 0x100000, true});
    Iss::Event event;
    do {
      event = iss_.Step();
    } while (event == Iss::Event::kRetired);
    return event;
  }

  void Put(uint64_t at, uint32_t v) {
    std::memcpy(&iss_.state().ub[at], &v, 4);
  }
  uint32_t Get(uint64_t at) const {
    uint32_t v;
    std::memcpy(&v, &iss_.state().ub[at], 4);
    return v;
  }
  uint32_t Lane(uint64_t base, int row, int lane) const {
    return Get(base + 4 * (row * kL + lane));
  }
  void ExpectFault(isa::Fault cause, uint64_t address) {
    ASSERT_TRUE(iss_.fault());
    EXPECT_EQ(iss_.fault()->cause, cause) << iss_.fault_detail();
    EXPECT_EQ(iss_.fault()->address, address);
    EXPECT_EQ(iss_.fault()->queue, static_cast<uint32_t>(isa::Queue::kVector));
  }
  std::string Problems() const {
    return std::string(iss_.races()->ToStatus().message());
  }

  static constexpr int kBase = 100;
  Iss iss_;
};

}  // namespace systole::iss

#endif  // SYSTOLE_TESTS_ISS_VPU_FIXTURE_H_
