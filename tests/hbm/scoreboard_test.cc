// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random traffic of all clients against the scoreboard of bench.h: every
// answer, the memory at the end, every rule of the table, and how long a
// request waits. A case is 5,000 transactions; `make hbm` runs a million.

#include <algorithm>
#include <cstdio>

#include "Vhbm2.h"
#include "Vhbmclasses.h"
#include "gtest/gtest.h"
#include "tests/hbm/any_traffic.h"
#include "tests/hbm/bandwidth.h"
#include "tests/testing/seeds.h"

namespace systole::hbm {
namespace {

constexpr int64_t kTransactions = 5000;

// No request waits for longer: a row cycle for each of the reads and writes
// that a group holds (128 each) and of a turn of each other client, and the
// refresh of every bank.
constexpr int64_t kLongest = (2 * 128 + 5 * 64) * int64_t{Timing().tRC} +
                             kBanks * int64_t{Timing().tRFCSB};

TEST(ScoreboardTest, EveryAnswerInTime) {
  int64_t transactions = 0, cycles = 0, longest = 0;
  for (const uint64_t seed : systole::testing_options::Seeds(6)) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Bench<Vhbm2> bench(2, seed);
    std::array<Traffic, kReaders> reads;
    std::array<Traffic, kWriters> writes;
    for (Traffic& read : reads)
      if (random() % 4 != 0) read = AnyTraffic(&random, kTransactions / 6);
    for (Traffic& write : writes)
      if (random() % 4 != 0) write = AnyTraffic(&random, kTransactions / 6);
    // What the other clients leave is the first reader's.
    int64_t rest = kTransactions;
    for (size_t i = 1; i < reads.size(); ++i) rest -= reads[i].count;
    for (const Traffic& write : writes) rest -= write.count;
    reads[0] = AnyTraffic(&random, rest);
    const Result result = bench.Run(
        reads, writes, random() % 3 == 0 ? 0.2 : 0.0, 100 * kTransactions);
    bench.Idle(static_cast<int64_t>(random() % 2000));
    bench.CompareMemory();
    ASSERT_TRUE(bench.Clean()) << bench.Report();
    transactions += result.read_beats + result.write_beats;
    cycles += result.cycles;
    longest = std::max(longest, bench.longest_wait());
  }
  std::printf(
      "[ figure   ] %lld transactions in %lld cycles, the longest wait %lld "
      "cycles\n",
      static_cast<long long>(transactions), static_cast<long long>(cycles),
      static_cast<long long>(longest));
  EXPECT_GE(transactions, kTransactions);
  EXPECT_LT(longest, kLongest);
}

// The scoreboard sees a wrong bit, and one that waits for ever ends.
TEST(ScoreboardTest, SeesAWrongBit) {
  Bench<Vhbm2> bench(2, 3);
  bench.Run({}, {Linear(0, 100)}, 0, 20000);
  uint8_t byte = 0;
  ASSERT_TRUE(bench.device().Read(40 * 32 + 5, absl::MakeSpan(&byte, 1)).ok());
  byte ^= 0x10;
  ASSERT_TRUE(bench.device().Write(40 * 32 + 5, {byte}).ok());
  bench.Run({Linear(0, 100)}, {}, 0, 20000);
  ASSERT_EQ(bench.errors().size(), 1u);
  EXPECT_NE(bench.errors()[0].find("beat 0x28, byte 5"), std::string::npos)
      << bench.errors()[0];
}

// The host's class: beside a stream it gets 8 beats of 72.
TEST(ScoreboardTest, TheHostGetsItsShare) {
  Bench<Vhbmclasses> bench(2, 4);
  bench.Idle(600);
  // Windows so large that the turns decide.
  bench.Run({Window(Linear(0, 16000), 2000),
             {},
             {},
             Window(Linear(1 << 16, 8000), 2000)},
            {}, 0, 60000);
  EXPECT_TRUE(bench.Clean()) << bench.Report();
  EXPECT_NEAR(static_cast<double>(bench.accepted_when_done(0, 3)) /
                  (16000 + bench.accepted_when_done(0, 3)),
              8.0 / 72, 0.01);
}

}  // namespace
}  // namespace systole::hbm
