// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_credit, systole_prim_ram_1r1w, systole_prim_ram_async,
// systole_prim_sync and systole_idle_clock.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "Vcredit.h"
#include "Vidle_clock.h"
#include "Vram.h"
#include "Vram_any.h"
#include "Vram_async.h"
#include "Vram_zero.h"
#include "Vsync.h"
#include "Vsync_late.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cells/bench.h"
#include "tests/testing/seeds.h"

namespace systole::test {
namespace {

using testing::HasSubstr;

constexpr int kCredits = 5;

void StartCredit(Bench<Vcredit>& bench) {
  bench->take_i = 0;
  bench->give_i = 0;
  Reset(bench);
}

TEST(CreditTest, CountsUnderRandomTraffic) {
  for (const uint32_t seed : systole::testing_options::SeedList<uint32_t>(20)) {
    Bench<Vcredit> bench(seed);
    StartCredit(bench);
    int left = kCredits;
    for (int cycle = 0; cycle < 2000; ++cycle) {
      bench.Settle();
      ASSERT_EQ(bench->count_o, left) << "cycle " << cycle;
      ASSERT_EQ(bench->avail_o, left > 0) << "cycle " << cycle;
      ASSERT_EQ(bench->idle_o, left == kCredits) << "cycle " << cycle;
      const bool take = left > 0 && bench.Chance(50);
      const bool give = left < kCredits && bench.Chance(50);
      bench->take_i = take;
      bench->give_i = give;
      left += static_cast<int>(give) - static_cast<int>(take);
      bench.Step();
    }
  }
}

TEST(CreditAssertionTest, CatchesACreditThatIsNotThere) {
  Bench<Vcredit> bench(1);
  StartCredit(bench);
  bench->take_i = 1;
  for (int i = 0; i < kCredits; ++i) EXPECT_EQ(bench.StepIntoAssertion(), "");
  EXPECT_THAT(bench.StepIntoAssertion(), HasSubstr("a_underflow"));
}

TEST(CreditAssertionTest, CatchesACreditTooMany) {
  Bench<Vcredit> bench(1);
  StartCredit(bench);
  bench->give_i = 1;
  EXPECT_THAT(bench.StepIntoAssertion(), HasSubstr("a_overflow"));
}

constexpr int kDepth = 24;

// Random traffic against an array, with lanes that are written alone;
// `collision` looks at what a read of a word that is written in the same cycle
// returned, given the old word.
template <typename Model, int kLanes, typename Collision>
void FollowAnArray(uint32_t seed, const Collision& collision) {
  constexpr uint32_t kAll = (1 << kLanes) - 1;
  constexpr int kLaneBits = 32 / kLanes;
  Bench<Model> bench(seed);
  std::array<uint32_t, kDepth> expected{};
  bench->clk_i = 0;
  bench->re_i = 0;
  for (int i = 0; i < kDepth; ++i) {
    bench->we_i = kAll;
    bench->waddr_i = i;
    bench->wdata_i = expected[i] = bench.Random();
    bench.Settle();
    bench.Step();
  }
  uint32_t last_read = 0;
  bool read_once = false;
  for (int cycle = 0; cycle < 3000; ++cycle) {
    const int write = static_cast<int>(bench.Random() % kDepth);
    const int read =
        bench.Chance(30) ? write : static_cast<int>(bench.Random() % kDepth);
    bench->we_i = bench.Random() & kAll;
    bench->waddr_i = write;
    bench->wdata_i = bench.Random();
    bench->re_i = bench.Chance(60);
    bench->raddr_i = read;
    bench.Settle();
    const bool collides = bench->re_i && bench->we_i != 0 && read == write;
    if (bench->re_i) {
      last_read = expected[read];
      read_once = true;
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      if (bench->we_i >> lane & 1) {
        const uint32_t mask = ~0u >> (32 - kLaneBits) << (kLaneBits * lane);
        expected[write] = (expected[write] & ~mask) | (bench->wdata_i & mask);
      }
    }
    bench.Step();
    if (collides) {
      collision(last_read, bench->rdata_o);
      last_read = bench->rdata_o;  // held
    }
    if (read_once) {
      ASSERT_EQ(bench->rdata_o, last_read) << "cycle " << cycle;
    }
  }
}

TEST(RamTest, FollowsAnArray) {
  for (const uint32_t seed : systole::testing_options::SeedList<uint32_t>(10)) {
    FollowAnArray<Vram, 4>(
        seed, [](uint32_t old, uint32_t read) { ASSERT_EQ(read, old); });
  }
}

// So that a user who makes something of it fails in a build that randomises
// unknown values.
TEST(RamTest, WhatIsReadOnCollisionIsUnknownWhereAnythingMayBe) {
  for (const uint32_t seed : systole::testing_options::SeedList<uint32_t>(10)) {
    int collisions = 0, old_data = 0;
    FollowAnArray<Vram_any, 4>(seed, [&](uint32_t old, uint32_t read) {
      ++collisions;
      old_data += read == old;
    });
    EXPECT_GT(collisions, 300);
    EXPECT_LT(old_data, 3) << "of " << collisions;
  }
}

// The bench starts with random contents where nothing else is said.
TEST(RamTest, IsZeroAtPowerOnWhereItShallBe) {
  for (const uint32_t seed : systole::testing_options::SeedList<uint32_t>(5)) {
    Bench<Vram_zero> bench(seed);
    bench->clk_i = 0;
    bench->we_i = 0;
    bench->re_i = 1;
    for (int i = 0; i < kDepth; ++i) {
      bench->raddr_i = i;
      bench.Settle();
      bench.Step();
      EXPECT_EQ(bench->rdata_o, 0) << "word " << i;
    }
    int collisions = 0;
    FollowAnArray<Vram_zero, 1>(seed,
                                [&](uint32_t, uint32_t) { ++collisions; });
    EXPECT_GT(collisions, 200);
  }
}

// Both ports follow their addresses within the cycle; a word changes with the
// clock edge, also one that is looked at.
TEST(RamTest, AsynchronousReadsFollowAnArray) {
  for (const uint32_t seed : systole::testing_options::SeedList<uint32_t>(10)) {
    Bench<Vram_async> bench(seed);
    std::array<uint32_t, kDepth> expected{};
    bench->clk_i = 0;
    bench->we_i = 1;
    bench->raddr_i = 0;
    for (int i = 0; i < kDepth; ++i) {
      bench->waddr_i = i;
      bench->wdata_i = expected[i] = bench.Random() & 0xFFFF;
      bench.Settle();
      bench.Step();
    }
    const auto place = [&] {
      return static_cast<int>(bench.Random() % kDepth);
    };
    int kept = 0, changed = 0;
    for (int cycle = 0; cycle < 3000; ++cycle) {
      const int write = place();
      const int a = bench.Chance(30) ? write : place();
      const int b = bench.Chance(30) ? write : place();
      const uint32_t data = bench.Random() & 0xFFFF;
      bench->we_i = bench.Chance(70);
      bench->waddr_i = write;
      bench->wdata_i = data;
      bench->raddr_i = static_cast<uint32_t>(b << 5 | a);
      bench.Settle();
      ASSERT_EQ(bench->rdata_o, expected[b] << 16 | expected[a])
          << "cycle " << cycle;
      if (bench->we_i) {
        expected[write] = data;
        changed += a == write || b == write;
      } else {
        kept += a == write || b == write;
      }
      bench.Step();
      ASSERT_EQ(bench->rdata_o, expected[b] << 16 | expected[a])
          << "cycle " << cycle;
    }
    EXPECT_GT(changed, 500);
    EXPECT_GT(kept, 200);
  }
}

constexpr int kStages = 3;

// Each bit is what it was kStages or, where a change may be seen late, that
// many and one more cycles before. Returns how many changes were late.
template <typename Model>
int FollowSynchroniser(uint32_t seed, bool late_changes, int* changes) {
  Bench<Model> bench(seed);
  bench->clk_i = 0;
  bench.Settle();
  std::vector<uint32_t> in;
  int late = 0;
  for (int cycle = 0; cycle < 2000; ++cycle) {
    in.push_back(bench.Random() & bench.Random() & 0xF);
    bench->d_i = in.back();
    bench.Step();
    if (cycle < kStages) continue;
    const uint32_t newer = in[cycle - kStages + 1], older = in[cycle - kStages];
    const uint32_t at_newer = ~(bench->q_o ^ newer) & 0xF;
    const uint32_t at_older = ~(bench->q_o ^ older) & 0xF;
    EXPECT_EQ(at_newer | (late_changes ? at_older : 0), 0xFu)
        << "cycle " << cycle;
    *changes += __builtin_popcount(newer ^ older);
    late += __builtin_popcount(~at_newer & at_older & 0xF);
  }
  return late;
}

TEST(SyncTest, TakesItsStagesOrOneMore) {
  for (const uint32_t seed : systole::testing_options::SeedList<uint32_t>(5)) {
    int changes = 0;
    EXPECT_EQ(FollowSynchroniser<Vsync>(seed, false, &changes), 0);
    changes = 0;
    const int late = FollowSynchroniser<Vsync_late>(seed, true, &changes);
    EXPECT_GT(late, changes * 2 / 5);
    EXPECT_LT(late, changes * 3 / 5);
  }
}

constexpr int kSettle = 3;

// It runs in a reset, with work and kSettle cycles longer, in whole pulses:
// what the enable does while the clock is high changes nothing.
TEST(IdleClockTest, RunsWhileThereIsWorkAndLonger) {
  for (const uint32_t seed : systole::testing_options::SeedList<uint32_t>(10)) {
    Bench<Vidle_clock> bench(seed);
    bench->work_i = 0;
    bench->rest_i = 1;
    Reset(bench);
    int left = kSettle, stood = 0;
    for (int cycle = 0; cycle < 2000; ++cycle) {
      const bool reset = bench.Chance(2), work = bench.Chance(20);
      bench->rst_ni = !reset;
      bench->work_i = work;
      bench.Settle();
      ASSERT_EQ(bench->clk_o, 0) << "cycle " << cycle;
      const bool runs = reset || work || left > 0;
      bench->clk_i = 1;
      bench.Settle();
      ASSERT_EQ(bench->clk_o, runs) << "cycle " << cycle;
      bench->work_i = !work;
      bench.Settle();
      ASSERT_EQ(bench->clk_o, runs) << "cycle " << cycle;
      bench->clk_i = 0;
      bench.Settle();
      left = reset || work ? kSettle : std::max(left - 1, 0);
      stood += !runs;
    }
    EXPECT_GT(stood, 500);
  }
}

TEST(IdleClockAssertionTest, CatchesAUnitThatIsNotAtRest) {
  Bench<Vidle_clock> bench(1);
  bench->work_i = 0;
  bench->rest_i = 0;
  Reset(bench);
  for (int i = 0; i < kSettle; ++i) EXPECT_EQ(bench.StepIntoAssertion(), "");
  EXPECT_THAT(bench.StepIntoAssertion(), HasSubstr("a_rest"));
}

}  // namespace
}  // namespace systole::test
