// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Periods of the memory controller, to the cycle: the first refresh behind a
// reset, the interval of the refreshes, the scrubber's period.

#include <cstdlib>
#include <vector>

#include "Vhbm2.h"
#include "Vhbmecc.h"
#include "gtest/gtest.h"
#include "tests/hbm/bandwidth.h"

namespace systole::hbm {
namespace {

// Cycles of a command of the first pseudo-channel, from the next one on.
template <typename B>
std::vector<int64_t> CyclesOf(B* bench, RowCmd command, size_t count,
                              int64_t limit) {
  std::vector<int64_t> cycles;
  for (int64_t i = 0; i < limit && cycles.size() < count; ++i) {
    bench->Idle(1);
    if (PortBits(bench->model().row_cmd_o, 0, kRowCmdBits) ==
        static_cast<uint32_t>(command))
      cycles.push_back(bench->cycle());
  }
  return cycles;
}

// Of a bank one in tREFI, so one of any bank in a sixteenth of that. A slot of
// the command bus may move each by a cycle or two; what is a cycle too long or
// too short adds up.
TEST(HbmTimesTest, RefreshesComeInTheirInterval) {
  constexpr size_t kCount = 400;
  constexpr int64_t kInterval = Timing().tREFI / kBanks;
  Bench<Vhbm2> bench(2, 5);
  bench.Idle(60000);  // all that may be done in advance is done
  const auto cycles =
      CyclesOf(&bench, RowCmd::kRefsb, kCount + 1, 2 * kCount * kInterval);
  ASSERT_EQ(cycles.size(), kCount + 1);
  EXPECT_LE(std::abs(cycles.back() - cycles.front() -
                     static_cast<int64_t>(kCount) * kInterval),
            4);
  for (size_t k = 1; k < cycles.size(); ++k)
    EXPECT_LE(std::abs(cycles[k] - cycles[k - 1] - kInterval), 2) << k;
  EXPECT_TRUE(bench.Clean()) << bench.Report();
}

// Behind a reset: PREA when a refresh of before must be over, and REF tRP
// later, each in the first slot of the command bus from then on, one in four
// cycles.
TEST(HbmTimesTest, TheFirstRefreshComesAtOnce) {
  Bench<Vhbm2> bench(2, 5);
  bench.Reset(3);
  const int64_t begin = bench.cycle();
  const auto prea = CyclesOf(&bench, RowCmd::kPrea, 1, 2000);
  const auto ref = CyclesOf(&bench, RowCmd::kRef, 1, 2000);
  ASSERT_EQ(prea.size() + ref.size(), 2u);
  constexpr int kSlot = 4;
  EXPECT_EQ(prea[0] - begin, Timing().tRFC + kSlot - 1);
  EXPECT_EQ(ref[0] - prea[0], (Timing().tRP + kSlot - 1) / kSlot * kSlot);
}

// The scrubber reads a beat each `scrub_i` cycles, however many it has read.
TEST(HbmTimesTest, TheScrubberKeepsItsPeriod) {
  constexpr int kPcs = 4, kBeats = 64, kSize = kPcs * kPhyBytes;
  for (const int period : {300, 301, 1024}) {
    Bench<Vhbmecc> bench(kPcs, 7, {}, kRefreshPostpone, /*ecc=*/true);
    bench.Idle(20000);
    bench.Run({}, {Linear(0, kBeats)}, 0, 20000);
    for (int beat = 0; beat < kBeats; ++beat)
      ASSERT_TRUE(bench.device().Flip(uint64_t(beat) * kSize, 3).ok());
    bench.Idle(40000);
    bench.model().scrub_i = period;
    const int64_t begin = bench.cycle();
    std::vector<int64_t> looks;
    for (int64_t i = 0; i < (kBeats + 1) * int64_t{period}; ++i) {
      const int64_t before = bench.looks();
      bench.Idle(1);
      if (bench.looks() != before) looks.push_back(bench.cycle() - begin);
    }
    ASSERT_EQ(looks.size(), kBeats) << period;
    // From the request to the answer it takes some cycles, more of them where
    // a refresh is in the way.
    constexpr int kLeast = 30, kMost = 110;
    for (int k = 0; k < kBeats; ++k) {
      const int64_t takes = looks[k] - int64_t{k + 1} * period;
      EXPECT_GE(takes, kLeast) << period << ", beat " << k;
      EXPECT_LE(takes, kMost) << period << ", beat " << k;
    }
  }
}

}  // namespace
}  // namespace systole::hbm
