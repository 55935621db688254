// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How a chip with two cores is simulated changes no cycle: with a thread a
// core, or with one core alone.

#include "tests/system/pair_test.h"

namespace systole {
namespace {

using ::testing::HasSubstr;

// A thread a core changes no cycle.
TEST_F(PairTest, ThreadsChangeNothing) {
  if (g_backend != "rtl") GTEST_SKIP() << "the RTL's";
  constexpr uint64_t kBytes = 4 << 10;
  std::array<std::vector<uint64_t>, 2> cycles;
  for (int threads : {1, 2}) {
    g_threads = threads;
    OpenAnother({});
    g_threads = 1;
    for (uint32_t c = 0; c < 2; ++c)
      ASSERT_TRUE(cores_[c]->Write(kFrom, RandomBytes(c + 31, kBytes)).ok());
    const auto stats = RunBoth(Copy(own() + kFrom, kTo, kBytes),
                               Copy(kFrom, own() + 2 * kTo, kBytes));
    for (int c = 0; c < 2; ++c) {
      ASSERT_TRUE(stats[c].ok()) << stats[c].status();
      for (const auto& retire : stats[c]->retires)
        cycles[threads - 1].push_back(retire.cycle);
    }
    EXPECT_EQ(ReadBack(0, kTo, kBytes), RandomBytes(32, kBytes));
    EXPECT_EQ(ReadBack(0, 2 * kTo, kBytes), RandomBytes(32, kBytes));
  }
  EXPECT_EQ(cycles[0].size(), 4u);
  EXPECT_EQ(cycles[0], cycles[1]);
  DeviceOptions options;
  options.preset = g_preset;
  for (const int wrong : {0, 3}) {
    options.simulation.threads = wrong;
    EXPECT_THAT(
        std::string(Device::OpenCores(g_backend, options).status().message()),
        HasSubstr("threads: minichip is simulated by 1 to 2, one a core"));
  }
}

// Nor does a core that stands still while the other one does not reach for it.
TEST_F(PairTest, ACoreAloneDoesTheSame) {
  if (g_backend != "rtl") GTEST_SKIP() << "the RTL's";
  constexpr uint64_t kBytes = 2 << 10;
  std::vector<uint64_t> cycles[2];
  for (const bool alone : {false, true}) {
    DeviceOptions options;
    options.preset = g_preset;
    options.simulation.alone = alone;
    options.watchdog = 3000;
    auto device = Device::Open(g_backend, options);
    ASSERT_TRUE(device.ok()) << device.status();
    ASSERT_TRUE((*device)->Write(kFrom, RandomBytes(5, kBytes)).ok());
    const auto stats = (*device)->Run(Copy(kFrom, kTo, kBytes));
    ASSERT_TRUE(stats.ok()) << stats.status();
    for (const auto& retire : stats->retires)
      cycles[alone].push_back(retire.cycle);
    cycles[alone].push_back(stats->cycles);
    std::vector<uint8_t> copied(kBytes);
    ASSERT_TRUE((*device)->Read(kTo, absl::MakeSpan(copied)).ok());
    EXPECT_EQ(copied, RandomBytes(5, kBytes));
    // It posts nothing to this one.
    const auto waits = (*device)->Run(Made(
        {LoadOf(kFrom, 64, kData, kLocal).Encode(), isa::Halt().Encode()}));
    EXPECT_TRUE(absl::IsAborted(waits.status())) << waits.status();
    ASSERT_TRUE((*device)->fault());
    EXPECT_EQ((*device)->fault()->cause, isa::Fault::kWatchdog);
    ASSERT_TRUE((*device)->Reset(ResetScope::kCore).ok());
  }
  EXPECT_EQ(cycles[0].size(), 3u);
  EXPECT_EQ(cycles[0], cycles[1]);
}

}  // namespace
}  // namespace systole
