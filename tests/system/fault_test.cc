// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Illegal programs: each faults with its cause and place on every backend, and
// the core is usable again after a reset.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "systole/device.h"
#include "tests/system/programs.h"

namespace systole {
namespace {

using ::systole::testing::SmallMatmul;
using ::testing::HasSubstr;

struct Case {
  const char* name;
  isa::Fault cause;
  uint32_t index;  // of the descriptor that faults
  std::function<void(SmallMatmul*)> spoil;
};

// Changes a descriptor that has fields, then encodes the program.
template <typename F>
std::function<void(SmallMatmul*)> Edit(F edit) {
  return [edit](SmallMatmul* m) {
    edit(m);
    m->Assemble();
  };
}

const Case kCases[] = {
    {"UnknownOpcode", isa::Fault::kIllegalOpcode, 3,
     [](SmallMatmul* m) {
       isa::PutBits(m->program.descriptors[3], 0, 8, 0xEE);
     }},
    {"ZeroOpcode", isa::Fault::kIllegalOpcode, 0,
     [](SmallMatmul* m) { m->program.descriptors[0] = {}; }},
    {"UnusedBit", isa::Fault::kIllegalDescriptor, 2,
     [](SmallMatmul* m) {
       isa::PutBits(m->program.descriptors[2], 511, 1, 1);
     }},
    {"UnusedFlag", isa::Fault::kIllegalDescriptor, 0,
     [](SmallMatmul* m) {
       isa::PutBits(m->program.descriptors[0], 8, 8, 0x80);
     }},
    {"LoadOfNothing", isa::Fault::kIllegalDescriptor, 0,
     Edit([](SmallMatmul* m) { m->load.len = 0; })},
    {"WeightsOfNothing", isa::Fault::kIllegalDescriptor, 1,
     Edit([](SmallMatmul* m) { m->weights.tiles = 0; })},
    {"MatmulOfNothing", isa::Fault::kIllegalDescriptor, 2,
     Edit([](SmallMatmul* m) { m->matmul.ny = 0; })},
    {"TooManySegmentRows", isa::Fault::kIllegalDescriptor, 2,
     Edit([](SmallMatmul* m) { m->matmul.seg_len[1] = 1; })},
    {"NoSegment", isa::Fault::kIllegalDescriptor, 2,
     Edit([](SmallMatmul* m) { m->matmul.seg_len[0] = 0; })},
    {"TooManyColumns", isa::Fault::kIllegalDescriptor, 3,
     Edit([](SmallMatmul* m) { m->requant.cols = 9; })},
    {"LoadMisalignedHbm", isa::Fault::kMisaligned, 0,
     Edit([](SmallMatmul* m) { m->load.hbm_addr += 8; })},
    {"LoadMisalignedBuffer", isa::Fault::kMisaligned, 0,
     Edit([](SmallMatmul* m) { m->load.ub_addr = 4; })},
    {"StoreMisalignedStride", isa::Fault::kMisaligned, 4,
     Edit([](SmallMatmul* m) { m->store.n1 = 2, m->store.hbm_stride1 = 33; })},
    {"WeightsMisaligned", isa::Fault::kMisaligned, 1,
     Edit([](SmallMatmul* m) { m->weights.hbm_addr += 16; })},
    {"ParamsMisaligned", isa::Fault::kMisaligned, 3, Edit([](SmallMatmul* m) {
       m->requant.header.flags = 0, m->requant.params = 0x2003;
     })},
    {"LoadBeyondHbmLimit", isa::Fault::kHbmRange, 0,
     Edit([](SmallMatmul* m) { m->load.hbm_addr = 0x10000 - 64; })},
    {"LoadBeyondHbm", isa::Fault::kHbmRange, 0,
     Edit([](SmallMatmul* m) { m->load.hbm_addr = (uint64_t{1} << 36) - 32; })},
    {"StoreBeyondHbmLimit", isa::Fault::kHbmRange, 4,
     Edit([](SmallMatmul* m) { m->store.hbm_addr = 0x10000 - 32; })},
    {"WeightsBeyondHbmLimit", isa::Fault::kHbmRange, 1,
     Edit([](SmallMatmul* m) { m->weights.hbm_addr = 0x10000 - 32; })},
    {"ProgramBeyondHbmLimit", isa::Fault::kHbmRange, 2,
     [](SmallMatmul* m) {
       m->program.hbm_bytes = SmallMatmul::kProgram + 128;
     }},
    {"LoadBeyondBuffer", isa::Fault::kUbRange, 0,
     Edit([](SmallMatmul* m) { m->load.ub_addr = 65536 - 32; })},
    {"MatmulBeyondBuffer", isa::Fault::kUbRange, 2,
     Edit([](SmallMatmul* m) { m->matmul.ub_base = 65536 - 4; })},
    {"RequantBeyondBuffer", isa::Fault::kUbRange, 3,
     Edit([](SmallMatmul* m) { m->requant.dst = 65536 - 40; })},
    {"StoreBeyondBuffer", isa::Fault::kUbRange, 4,
     Edit([](SmallMatmul* m) { m->store.ub_addr = 65536 - 64; })},
    {"MatmulAcrossBanks", isa::Fault::kAccRange, 2,
     Edit([](SmallMatmul* m) { m->matmul.acc = 250; })},
    {"MatmulBeyondAccumulators", isa::Fault::kAccRange, 2,
     Edit([](SmallMatmul* m) { m->matmul.acc = 510; })},
    {"RequantBeyondAccumulators", isa::Fault::kAccRange, 3,
     Edit([](SmallMatmul* m) { m->requant.acc = 4000; })},
    {"WaitNeverMet", isa::Fault::kWatchdog, 4,
     Edit([](SmallMatmul* m) { m->store.header.wait_mask |= 1u << 30; })},
    {"NoHalt", isa::Fault::kProgramEnd, 4,
     [](SmallMatmul* m) { m->program.descriptors.pop_back(); }},
};

class FaultTest
    : public ::testing::TestWithParam<std::tuple<const char*, int>> {};

TEST_P(FaultTest, NamesCauseAndPlaceAndResetBringsTheCoreBack) {
  const Case& c = kCases[std::get<1>(GetParam())];
  DeviceOptions options;
  options.preset = "nano";
  options.simulation.checked = true;
  options.watchdog = 3000;
  auto device = Device::Open(std::get<0>(GetParam()), options);
  ASSERT_TRUE(device.ok()) << device.status();

  SmallMatmul bad(5);
  c.spoil(&bad);
  const absl::Status status = (*device)->Run(bad.program).status();
  ASSERT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  ASSERT_TRUE((*device)->fault().has_value());
  EXPECT_EQ((*device)->fault()->cause, c.cause) << status;
  EXPECT_EQ((*device)->fault()->index, c.index) << status;
  EXPECT_THAT(
      status.message(),
      HasSubstr(std::string(isa::kFaults[static_cast<int>(c.cause)].name)));

  // Frozen until the reset.
  SmallMatmul good(6);
  EXPECT_EQ((*device)->Start(good.program).code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE((*device)->Reset(ResetScope::kCore).ok());
  EXPECT_FALSE((*device)->fault().has_value());
  auto stats = (*device)->Run(good.program);
  ASSERT_TRUE(stats.ok()) << stats.status();
  std::vector<uint8_t> bytes(SmallMatmul::kRows * SmallMatmul::kPitchC);
  ASSERT_TRUE((*device)->Read(SmallMatmul::kC, absl::MakeSpan(bytes)).ok());
  for (int i = 0; i < SmallMatmul::kRows; ++i) {
    for (int j = 0; j < SmallMatmul::kSize; ++j) {
      int32_t got;
      std::memcpy(&got, &bytes[i * SmallMatmul::kPitchC + 4 * j], 4);
      ASSERT_EQ(got, good.Expected(i, j))
          << "after the reset, row " << i << " column " << j;
    }
  }
}

// A fault of one queue stops what the others do.
TEST(FaultOnRtl, StopsALongStoreOfAnotherQueue) {
  constexpr uint32_t kBytes = 1 << 15;
  constexpr uint64_t kFrom = 0x1000, kTo = 0x10000;
  DeviceOptions options;
  options.preset = "nano";
  options.simulation.checked = true;
  auto device = Device::Open("rtl", options);
  ASSERT_TRUE(device.ok()) << device.status();
  isa::Load load;
  load.hbm_addr = kFrom;
  load.len = kBytes;
  load.n1 = load.n2 = 1;
  isa::Store store;
  store.hbm_addr = kTo;
  store.len = kBytes;
  store.n1 = store.n2 = 1;
  isa::Weights weights;
  weights.hbm_addr = kFrom + 16;  // misaligned
  weights.tiles = 1;
  Program program;
  program.preset = "nano";
  program.prog_addr = 0xA000;
  program.hbm_bytes = 0x20000;
  program.segments = {{"in", kFrom, std::vector<uint8_t>(kBytes, 0x55)},
                      {"out", kTo, std::vector<uint8_t>(kBytes, 0xAA)}};
  program.descriptors = {load.Encode(), isa::Halt().Encode()};
  ASSERT_TRUE((*device)->Run(program).ok());
  program.descriptors = {store.Encode(), weights.Encode(),
                         isa::Halt().Encode()};
  ASSERT_EQ((*device)->Run(program).status().code(),
            absl::StatusCode::kAborted);
  // Reading takes longer than the store would.
  std::vector<uint8_t> bytes(kBytes);
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE((*device)->Read(kTo, absl::MakeSpan(bytes)).ok());
  const auto written = std::count(bytes.begin(), bytes.end(), 0x55);
  EXPECT_EQ(written + std::count(bytes.begin(), bytes.end(), 0xAA), kBytes);
  EXPECT_LT(written, kBytes / 8);
}

INSTANTIATE_TEST_SUITE_P(
    Causes, FaultTest,
    ::testing::Combine(::testing::Values("iss", "rtl"),
                       ::testing::Range(0,
                                        static_cast<int>(std::size(kCases)))),
    [](const auto& info) {
      return std::string(std::get<0>(info.param)) + "_" +
             kCases[std::get<1>(info.param)].name;
    });

}  // namespace
}  // namespace systole
