// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_hbm against a reference memory and the timing checker: ordering,
// stalls, refresh, reset, bandwidth. hbm_test.cc has 2 pseudo-channels,
// hbm_wide_test.cc 4 and 8.

#ifndef SYSTOLE_TESTS_HBM_HBM_CASES_H_
#define SYSTOLE_TESTS_HBM_HBM_CASES_H_

#include <cstdio>
#include <set>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/hbm/bandwidth.h"
#include "tests/hbm/schedule.h"
#include "tests/testing/long.h"
#include "tests/testing/seeds.h"

namespace systole::hbm {

// Pseudo-channels of a model.
template <typename Model>
struct Pcs;

template <typename Model>
class HbmTest : public testing::Test {
 protected:
  static constexpr int kPcs = Pcs<Model>::kValue;
  void Figure(const char* what, double value) {
    std::printf("[ figure   ] hbm, %d pseudo-channels, %s: %.1f %% of peak\n",
                kPcs, what, 100 * value);
  }
};
TYPED_TEST_SUITE_P(HbmTest);

// Many clients on few beats: every hazard of order. Stalls, partial masks, idle
// phases; several refreshes pass.
TYPED_TEST_P(HbmTest, RandomTrafficKeepsOrder) {
  for (const uint64_t seed : systole::testing_options::Seeds(
           TestFixture::kPcs <= 2 || testing_options::Long() ? 3 : 1, 11)) {
    SCOPED_TRACE(absl::StrFormat("seed %d", seed));
    Bench<TypeParam> bench(TestFixture::kPcs, seed);
    for (uint32_t range : {6u, 64u, 4096u}) {
      for (double stall : {0.0, 0.3}) {
        std::array<Traffic, kReaders> reads;
        std::array<Traffic, kWriters> writes;
        for (int i = 0; i < kReaders; ++i) {
          reads[i] = Random(seed + i, range * 512, range, 1000);
          reads[i].rate = i % 2 ? 0.1 : 1.0;
          reads[i].window = 8 << i;
        }
        for (int i = 0; i < kWriters; ++i) {
          writes[i] = Random(seed + 10 + i, range * 512, range, 1500);
          writes[i].rate = i % 2 ? 0.2 : 1.0;
          writes[i].partial = 0.5;
        }
        bench.Run(reads, writes, stall, 400000);
      }
    }
    bench.CompareMemory();
    EXPECT_TRUE(bench.Clean()) << bench.Report();
    EXPECT_GT(bench.device().counters(0).bank_refreshes, 50);
  }
}

// A write is seen by the very next read, of another client too.
TYPED_TEST_P(HbmTest, ReadAfterWrite) {
  Bench<TypeParam> bench(TestFixture::kPcs, 5);
  for (uint32_t i = 0; i < 200; ++i) {
    std::array<Traffic, kReaders> reads;
    std::array<Traffic, kWriters> writes;
    writes[i % 2] = Linear(1000 + i / 2, 1);
    reads[i % 4] = Linear(1000 + i / 2, 3, 0);
    reads[(i + 1) % 4] = Linear(1000 + i / 2, 2, 0);
    bench.Run(reads, writes, 0, 2000);
  }
  EXPECT_TRUE(bench.Clean()) << bench.Report();
}

TYPED_TEST_P(HbmTest, WholeAddressRange) {
  Bench<TypeParam> bench(TestFixture::kPcs, 6);
  std::array<Traffic, kReaders> reads;
  std::array<Traffic, kWriters> writes;
  writes[0] = Random(77, 0, 1u << kBeatBits, 3000);
  bench.Run({}, writes, 0, 200000);
  bench.CompareMemory();  // outstanding_o fell only when all was in the device
  reads[0] = Random(77, 0, 1u << kBeatBits, 3000);
  bench.Run(reads, {}, 0, 200000);
  bench.CompareMemory();
  EXPECT_TRUE(bench.Clean()) << bench.Report();
}

// Every client that asks is served: nobody waits for longer than the sum of the
// others' batches.
TYPED_TEST_P(HbmTest, NobodyStarves) {
  Bench<TypeParam> bench(TestFixture::kPcs, 7);
  std::array<Traffic, kReaders> reads;
  std::array<Traffic, kWriters> writes;
  for (int i = 0; i < kReaders; ++i) reads[i] = Linear(i * 100000, 4000);
  for (int i = 0; i < kWriters; ++i)
    writes[i] = Linear(500000 + i * 100000, 4000);
  // Equal shares: all end within a few batches of each other, so the whole
  // takes what the beats need.
  Result result = bench.Run(reads, writes, 0, 100000);
  EXPECT_TRUE(bench.Clean()) << bench.Report();
  EXPECT_EQ(result.read_beats, 4 * 4000);
  EXPECT_EQ(result.write_beats, 2 * 4000);
  this->Figure("4 readers and 2 writers, linear", result.Efficiency());
  EXPECT_GT(result.Efficiency(), 0.78);
}

// A bank that is never without requests is refreshed when half of what may be
// postponed is owed, before one more is. The first is owed at once.
TYPED_TEST_P(HbmTest, ABusyBankIsRefreshedInTime) {
  Bench<TypeParam> bench(TestFixture::kPcs, 17);
  const int64_t interval = Timing{}.tREFI / kBanks, half = 4 * kBanks;
  int64_t most = 0;
  std::array<Traffic, kReaders> reads;
  for (Traffic& read : reads) {
    read.beat = [&](int64_t) {
      for (int pc = 0; pc < TestFixture::kPcs; ++pc) {
        most = std::max(most, 1 + bench.cycle() / interval -
                                  bench.device().counters(pc).bank_refreshes);
      }
      return 0u;
    };
    read.count = 3000;
  }
  bench.Run(reads, {}, 0, 100000);
  EXPECT_TRUE(bench.Clean()) << bench.Report();
  EXPECT_GT(bench.cycle(), 6 * Timing{}.tREFI);
  EXPECT_EQ(most, half);
}

// While nothing is asked for, refreshes of 6 x tREFI are done in advance.
TYPED_TEST_P(HbmTest, AnIdleMemoryIsRefreshedInAdvance) {
  Bench<TypeParam> bench(TestFixture::kPcs, 18);
  bench.Idle(80000);
  const int64_t owed = 1 + bench.cycle() / (Timing{}.tREFI / kBanks);
  for (int pc = 0; pc < TestFixture::kPcs; ++pc) {
    const int64_t ahead = bench.device().counters(pc).bank_refreshes - owed;
    EXPECT_GE(ahead, 6 * kBanks - 1);
    EXPECT_LE(ahead, 6 * kBanks + 1);
  }
  EXPECT_TRUE(bench.Clean()) << bench.Report();
}

// A controller has a request from 3 cycles after its acceptance to its column:
// the least pause in which refreshes in advance begin is 3 short of 1,024. The
// test ends before others come, of banks that a stream has left or of any.
TYPED_TEST_P(HbmTest, RefreshesInAdvanceBeginAfter1024IdleCycles) {
  constexpr int64_t kLeast = 1024 - 3;
  for (const int64_t pause : {kLeast - 1, kLeast}) {
    Bench<TypeParam> bench(TestFixture::kPcs, 22);
    int64_t column = 0;
    bench.EachCycle([&] {
      if (bench.device().counters(0).reads == 0) column = bench.cycle() + 2;
    });
    Traffic read;
    read.beat = [](int64_t) { return BeatAt({0, 3, 8, 1}); };
    read.count = 1;
    bench.Idle(600);  // past the first refresh
    bench.Run({read}, {}, 0, 1000);
    bench.Idle(column + pause - bench.cycle());
    bench.Run({read}, {}, 0, 1000);
    EXPECT_TRUE(bench.Clean()) << bench.Report();
    EXPECT_EQ(bench.device().counters(0).bank_refreshes > 0, pause == kLeast);
  }
}

// A stream's windows of 32 columns are counted from the reset: a bank of the
// first is refreshed when the third after it is full, after 96 columns.
TYPED_TEST_P(HbmTest, ABankIsRefreshedThreeWindowsAfterItsUse) {
  for (const int64_t use : {0, 30}) {  // before the window's last column
    Bench<TypeParam> bench(TestFixture::kPcs, 23);
    int64_t columns = 0;
    bench.EachCycle([&] {
      const auto& counters = bench.device().counters(0);
      if (counters.bank_refreshes == 0) columns = counters.reads;
    });
    Traffic read;
    bench.Idle(600);  // past the first refresh
    for (int64_t i = 0; i < 110; ++i) {
      const uint32_t bank = i == use ? 3 : 6, col = i % kCols;
      read.beat = [=](int64_t) { return BeatAt({0, bank, 8, col}); };
      read.count = 1;
      bench.Run({read}, {}, 0, 1000);
      bench.Idle(10);  // a column's refresh comes before the next column
    }
    EXPECT_TRUE(bench.Clean()) << bench.Report();
    EXPECT_EQ(bench.device().counters(0).bank_refreshes, 1);
    EXPECT_EQ(columns, 96) << use;
  }
}

// A row that keeps another out takes no new requests after 33 to 64 cycles:
// with a column each tCCD_L, 9 to 16 of a stream's pass the other row's.
TYPED_TEST_P(HbmTest, ARowThatKeepsAnotherOutGrowsOld) {
  int64_t least = 1000, most = 0;
  for (int64_t n = 60; n < 76; ++n) {  // phases of the clock of ages
    Bench<TypeParam> bench(TestFixture::kPcs, 24);
    int64_t passed = 0;
    bench.EachCycle([&] {
      const auto& counters = bench.device().counters(0);
      if (counters.activates == 1) passed = counters.reads - n;
    });
    Traffic read;
    read.beat = [=](int64_t i) {
      return BeatAt({0, 3, i == n ? 9u : 8u, static_cast<uint32_t>(i % kCols)});
    };
    read.count = 200;
    bench.Idle(600);  // past the first refresh
    bench.Run({read}, {}, 0, 5000);
    EXPECT_TRUE(bench.Clean()) << bench.Report();
    least = std::min(least, passed);
    most = std::max(most, passed);
  }
  EXPECT_EQ(least, 32 / Timing{}.tCCD_L + 1);
  EXPECT_EQ(most, 64 / Timing{}.tCCD_L);
}

// A reset at any time loses requests, but neither data in the device nor a
// timing rule.
TYPED_TEST_P(HbmTest, ResetKeepsData) {
  Bench<TypeParam> bench(TestFixture::kPcs, 8);
  std::array<Traffic, kReaders> reads;
  std::array<Traffic, kWriters> writes;
  writes[0] = Linear(0, 500);
  bench.Run({}, writes, 0, 20000);
  // Writers too, of other beats: a beat cut off by a reset keeps its old or has
  // its new bytes, never those of another.
  auto fresh = Device::Create({TestFixture::kPcs, /*seed=*/8}).value();
  const int size = BeatBytes(TestFixture::kPcs);
  const uint32_t first = 4096;
  uint32_t beat = first;
  auto& model = bench.model();
  for (int i = 0; i < 200; ++i) {
    model.wr_valid_i = 1;
    for (int n = 540 + static_cast<int>(bench.random()() % 100); n > 0; --n) {
      bench.SetWrite(beat, static_cast<uint8_t>(beat * 7));
      model.eval();
      bool accepted = model.wr_ready_o & 1;
      bench.Idle(1);
      beat += accepted;
    }
    bench.Reset(1);
  }
  ASSERT_GT(beat, first + 1000);
  for (uint32_t k = first; k < beat; ++k) {
    std::vector<uint8_t> now(size), old(size);
    ASSERT_TRUE(
        bench.device().Read(uint64_t{k} * size, absl::MakeSpan(now)).ok());
    ASSERT_TRUE(fresh->Read(uint64_t{k} * size, absl::MakeSpan(old)).ok());
    for (int b = 0; b < size; ++b) {
      ASSERT_TRUE(now[b] == old[b] || now[b] == static_cast<uint8_t>(k * 7))
          << "beat " << k << " byte " << b;
    }
  }
  for (int i = 0; i < 40; ++i) {
    bench.model().rd_valid_i = 1;
    bench.model().rd_addr_i[0] = 0;
    bench.Idle(1 + static_cast<int64_t>(bench.random()() % 700));
    bench.Reset(1 + i % 3);
  }
  reads[1] = Linear(0, 500);
  bench.Run(reads, {}, 0, 20000);
  bench.CompareMemory();
  // Responses to the reads above have no expectation.
  for (const std::string& error : bench.errors()) {
    EXPECT_NE(error.find("answered without a request"), std::string::npos)
        << error;
  }
  EXPECT_EQ(bench.device().log().count(), 0) << bench.Report();
}

TYPED_TEST_P(HbmTest, StreamingReadsReach98PercentOfPeak) {
  Bench<TypeParam> bench(TestFixture::kPcs, 21);
  bench.Idle(600);  // past the first refresh
  Result result = bench.Run({Linear(12345, 60000)}, {}, 0, 200000);
  EXPECT_TRUE(bench.Clean()) << bench.Report();
  this->Figure("one linear reader, refresh included", result.Efficiency());
  std::printf(
      "[ figure   ]   requests wait for a refresh in %.1f %% of the cycles, "
      "%.1f %% row hits\n",
      100 * bench.refresh_share(),
      100.0 - 100.0 * bench.activates() / bench.columns());
  EXPECT_GE(result.Efficiency(), 0.98);
  EXPECT_GT(bench.device().counters(0).bank_refreshes, 200);
  // The counters agree with what passed.
  EXPECT_EQ(bench.perf_read_beats(), result.read_beats);
  EXPECT_EQ(bench.columns(), result.read_beats * TestFixture::kPcs / 2);
}

TYPED_TEST_P(HbmTest, Bandwidth) {
  for (const BandwidthCase& c : BandwidthCases()) {
    Bench<TypeParam> bench(TestFixture::kPcs, 31);
    bench.Idle(600);  // past the first refresh
    Result result = bench.Run(c.reads, c.writes, 0, 400000);
    EXPECT_TRUE(bench.Clean()) << c.name << "\n" << bench.Report();
    this->Figure(c.name, result.Efficiency());
    EXPECT_GE(result.Efficiency(), c.limit * c.at_least) << c.name;
  }
}

// What an isolated read waits for, accepted to answered.
TYPED_TEST_P(HbmTest, Latency) {
  Bench<TypeParam> bench(TestFixture::kPcs, 41);
  bench.Run({Linear(512, 1)}, {}, 0, 1000);  // past the first refresh
  auto latency = [&](uint32_t beat) {
    int64_t before = bench.cycle();
    bench.Run({Linear(beat, 1)}, {}, 0, 1000);
    return bench.cycle() - before - 1;
  };
  int64_t closed = latency(0);
  int64_t hit = latency(0);
  uint32_t other_row = BeatAt({Locate(0).group, Locate(0).bank, 9, 0});
  int64_t conflict = latency(other_row);
  std::printf(
      "[ figure   ] hbm read latency: %d cycles to an open row, %d closed, %d "
      "another row open\n",
      static_cast<int>(hit), static_cast<int>(closed),
      static_cast<int>(conflict));
  Timing t;
  EXPECT_NEAR(closed - hit, t.tRCDRD, 4);  // a slot of ACT every 4 cycles
  EXPECT_NEAR(conflict - closed, t.tRP, 4);
  EXPECT_TRUE(bench.Clean()) << bench.Report();
}

// A checker whose table asks for one cycle more finds exactly that time, or
// nothing, where the slots of the row bus make each command later than that:
// ACT begins every fourth cycle.
inline const std::set<std::string_view> kHiddenBySlots = {"tRP", "tRAS", "tRC",
                                                          "tRRD_L", "tFAW"};
TYPED_TEST_P(HbmTest, LongerTimesAreNoticed) {
  int number = 0;
  for (const TimingField& field : kTimingFields) {
    if (field.name == "tCL" || field.name == "tCWL") continue;  // below
    // The rules are those of every width: each at 2 pseudo-channels, a third of
    // them at others.
    const bool all = TestFixture::kPcs == 2 || testing_options::Long();
    if (++number % 3 != 0 && !all) continue;
    Timing checked;
    checked.*field.value += 1;
    int postpone = kRefreshPostpone;
    if (field.name == "tREFI") {
      checked.tREFI -= 600;
      postpone = 0;
    }
    Bench<TypeParam> bench(TestFixture::kPcs, 51, checked, postpone);
    Mixture(&bench, 52);
    EXPECT_TRUE(bench.errors().empty()) << bench.Report();
    const bool hidden = kHiddenBySlots.count(field.name) > 0;
    EXPECT_EQ(bench.device().log().count() == 0, hidden) << field.name;
    for (const Violation& violation : bench.device().log().violations()) {
      ASSERT_EQ(violation.rule, field.name) << violation.text;
    }
  }
  Bench<TypeParam> bench(TestFixture::kPcs, 51);
  Mixture(&bench, 52);
  EXPECT_TRUE(bench.Clean()) << bench.Report();
}

// A device with other latencies: the write data lands wrong, the read data
// trips the controller's assertion.
TYPED_TEST_P(HbmTest, WrongLatenciesAreNoticed) {
  for (int Timing::*latency : {&Timing::tCWL, &Timing::tCL}) {
    Timing timing;
    timing.*latency += 1;
    Bench<TypeParam> bench(TestFixture::kPcs, 61, timing);
    bench.Run({}, {Linear(0, 500)}, 0, 20000);
    bench.Run({Linear(0, 500)}, {}, 0, 20000);
    EXPECT_FALSE(bench.errors().empty());
  }
}

TYPED_TEST_P(HbmTest, TakesTheRecordedCycles) {
  CheckSchedule<TypeParam>(TestFixture::kPcs, false);
}

REGISTER_TYPED_TEST_SUITE_P(
    HbmTest, RandomTrafficKeepsOrder, ReadAfterWrite, WholeAddressRange,
    NobodyStarves, ABusyBankIsRefreshedInTime, AnIdleMemoryIsRefreshedInAdvance,
    RefreshesInAdvanceBeginAfter1024IdleCycles,
    ABankIsRefreshedThreeWindowsAfterItsUse, ARowThatKeepsAnotherOutGrowsOld,
    ResetKeepsData, StreamingReadsReach98PercentOfPeak, Bandwidth, Latency,
    LongerTimesAreNoticed, WrongLatenciesAreNoticed, TakesTheRecordedCycles);

}  // namespace systole::hbm

#endif  // SYSTOLE_TESTS_HBM_HBM_CASES_H_
