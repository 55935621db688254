// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A chip with a DRAM at its AXI4 port, whole: programs run, and what the bus
// answers with an error becomes a fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/system/programs.h"
#include "verif/tb/simulation.h"

namespace systole {
namespace {

using ::systole::testing::SmallMatmul;

class Memory : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    tb::Simulation::Options options;
    options.preset = "board8";
    options.checked = true;
    options.stall_rate = GetParam();
    options.seed = 5;
    auto sim = tb::Simulation::Create(options);
    ASSERT_TRUE(sim.ok()) << sim.status();
    sim_ = std::move(*sim);
    matmul_.program.preset = "board8";
  }
  uint32_t Register(uint32_t offset) {
    return sim_->ReadRegister(offset).value();
  }
  void Set(uint32_t offset, uint32_t value) {
    ASSERT_TRUE(sim_->WriteRegister(offset, value).ok());
  }
  void Load() {
    std::vector<uint8_t> bytes;
    for (const isa::Descriptor& d : matmul_.program.descriptors) {
      for (const uint64_t word : d)
        for (int i = 0; i < 8; ++i)
          bytes.push_back(static_cast<uint8_t>(word >> (8 * i)));
    }
    ASSERT_TRUE(sim_->WriteMemory(SmallMatmul::kProgram, bytes).ok());
    for (const DataSegment& s : matmul_.program.segments)
      ASSERT_TRUE(sim_->WriteMemory(s.hbm_addr, s.data).ok());
    // A read of what was written last finds all of it in the memory.
    const DataSegment& last = matmul_.program.segments.back();
    std::vector<uint8_t> back(last.data.size());
    ASSERT_TRUE(sim_->ReadMemory(last.hbm_addr, absl::MakeSpan(back)).ok());
    ASSERT_EQ(back, last.data);
  }
  // Runs the program; the fault's cause, 0 if none.
  uint32_t Run() {
    Set(csr::kIrqEnable, csr::kIrqDone | csr::kIrqFault);
    Set(csr::kProgAddrLo, SmallMatmul::kProgram);
    Set(csr::kProgLen,
        static_cast<uint32_t>(matmul_.program.descriptors.size()));
    Set(csr::kHbmLimitLo, 0x10000);
    Set(csr::kCtrl, csr::kCtrlStart);
    EXPECT_TRUE(sim_->WaitInterrupt(100000).ok());
    Set(csr::kIrq, csr::kIrqDone | csr::kIrqFault);
    return (Register(csr::kStatus) & csr::kStatusFault) != 0
               ? Register(csr::kFaultCause)
               : 0;
  }
  void Reset() {
    Set(csr::kCtrl, csr::kCtrlReset);
    while ((Register(csr::kStatus) & csr::kStatusResetting) != 0) {
    }
  }
  void ExpectResult() {
    std::vector<uint8_t> lines(SmallMatmul::kRows * SmallMatmul::kPitchC);
    ASSERT_TRUE(sim_->ReadMemory(SmallMatmul::kC, absl::MakeSpan(lines)).ok());
    for (int i = 0; i < SmallMatmul::kRows; ++i) {
      for (int j = 0; j < SmallMatmul::kSize; ++j) {
        int32_t got;
        std::memcpy(&got, &lines[i * SmallMatmul::kPitchC + 4 * j], 4);
        ASSERT_EQ(got, matmul_.Expected(i, j)) << i << " " << j;
      }
    }
  }

  static constexpr auto kMemoryError =
      static_cast<uint32_t>(isa::Fault::kMemoryError);
  SmallMatmul matmul_{7};
  std::unique_ptr<tb::Simulation> sim_;
};

TEST_P(Memory, ProgramRuns) {
  Load();
  EXPECT_EQ(Run(), 0u);
  ExpectResult();
  EXPECT_EQ(sim_->memory().hbm(), nullptr);
  EXPECT_TRUE(sim_->CheckMemory().ok()) << sim_->CheckMemory();
}

TEST_P(Memory, AnErrorOfTheBusFaultsTheProgram) {
  Load();
  for (const uint64_t bad :
       {SmallMatmul::kA + 0x40, SmallMatmul::kW + 0x10, SmallMatmul::kC + 0x90,
        SmallMatmul::kProgram + 0x100}) {
    sim_->memory().dram()->FailAt(bad, bad + 1);
    EXPECT_EQ(Run(), kMemoryError);
    const uint32_t address = Register(csr::kFaultAddrLo);
    EXPECT_LE(address, bad);
    EXPECT_GT(address + 256, bad);
    EXPECT_EQ(Register(csr::kFaultQueue), 7u);  // the sequencer
    sim_->memory().dram()->FailAt(0, 0);
    Reset();
    EXPECT_EQ(Run(), 0u);
    ExpectResult();
  }
  EXPECT_TRUE(sim_->CheckMemory().ok()) << sim_->CheckMemory();
}

TEST_P(Memory, AnErrorOfTheHostsAccessIsToldToo) {
  Load();
  sim_->memory().dram()->FailAt(0x5000, 0x5100);
  const std::vector<uint8_t> bytes(64, 1);
  ASSERT_TRUE(sim_->WriteMemory(0x4ff0, bytes).ok());
  std::vector<uint8_t> back(16);
  ASSERT_TRUE(sim_->ReadMemory(0x4ff0, absl::MakeSpan(back)).ok());
  EXPECT_NE(Register(csr::kStatus) & csr::kStatusFault, 0u);
  EXPECT_EQ(Register(csr::kFaultCause), kMemoryError);
}

INSTANTIATE_TEST_SUITE_P(Stalls, Memory, ::testing::Values(0, 60));

}  // namespace
}  // namespace systole
