// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The read-modify-write unit of ECC alone, to the cycle: the scrubber's period
// and patience, how much the list takes, when it opens again.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "VRmw.h"
#include "verilated.h"

namespace systole::hbm {
namespace {

constexpr int kDepth = 16, kRest = 32, kPatience = 1023;

class RmwTest : public ::testing::Test {
 protected:
  RmwTest() : dut_(&context_) {
    context_.randReset(2);
    dut_.take_i = dut_.partial_i = dut_.rsp_valid_i = 0;
    dut_.rsp_fixed_i = dut_.rsp_bad_i = 0;
    dut_.rd_ready_i = 1;
    dut_.wr_ready_i = 0;
    dut_.quiet_i = 1;
    dut_.scrub_i = 0;
    Reset();
  }
  ~RmwTest() override { dut_.final(); }

  void Reset(int clocks = 3) {
    dut_.rst_ni = dut_.take_i = dut_.rsp_valid_i = 0;
    context_.fatalOnError(false);  // registers hold anything yet
    for (int i = 0; i < clocks; ++i) Clock();
    context_.gotError(false);
    context_.fatalOnError(true);
    dut_.rst_ni = 1;
    dut_.rsp_fixed_i = dut_.rsp_bad_i = 0;
  }
  // Anything, from which a reset of one clock has to bring it back.
  void Use(uint32_t seed) {
    std::minstd_rand random(seed);
    dut_.scrub_i = 1 + random() % 60;
    for (int i = static_cast<int>(200 + random() % 200); i > 0; --i) {
      dut_.clk_i = dut_.take_i = 0;
      dut_.quiet_i = random() % 4 == 0;
      dut_.rd_ready_i = random() % 2;
      dut_.wr_ready_i = random() % 8 == 0;
      dut_.rsp_fixed_i = random() % 2;
      dut_.eval();
      dut_.take_i = dut_.room_o && random() % 2;
      dut_.partial_i = random() % 2;
      dut_.beat_i = random() % 4;
      Clock();
    }
    dut_.quiet_i = dut_.rd_ready_i = 1;
    dut_.wr_ready_i = 0;
    Reset(1);
  }
  // A read is answered in the next cycle, without an error.
  void Clock() {
    dut_.clk_i = 0;
    dut_.eval();
    const bool read = dut_.rst_ni && dut_.rd_valid_o && dut_.rd_ready_i;
    dut_.clk_i = 1;
    dut_.eval();
    dut_.rsp_valid_i = read;
    dut_.eval();
  }
  // The cycles, of so many, in which the scrubber reads.
  std::vector<int> Reads(int cycles) {
    std::vector<int> reads;
    for (int i = 0; i < cycles; ++i) {
      dut_.clk_i = 0;
      dut_.eval();
      if (dut_.rd_valid_o) {
        EXPECT_EQ(dut_.rd_beat_o, first_beat_ + reads.size());
        reads.push_back(i);
      }
      Clock();
    }
    return reads;
  }

  uint32_t first_beat_ = 0;
  VerilatedContext context_;
  VRmw dut_;
};

// A read in each period, a cycle behind the one in which it is due.
TEST_F(RmwTest, TheScrubberReadsOnceAPeriod) {
  for (const int period : {8, 50, 51, 1000}) {
    Use(period);
    dut_.scrub_i = period;
    const auto reads = Reads(10 * period + 5);
    ASSERT_EQ(reads.size(), 10u) << period;
    for (int k = 0; k < 10; ++k) {
      EXPECT_EQ(reads[k], (k + 1) * period + 1) << period;
    }
  }
  for (int seed = 1; seed <= 60; ++seed) {
    Use(seed);
    EXPECT_FALSE(dut_.look_o || dut_.again_o || dut_.busy_o) << seed;
    dut_.scrub_i = 8;
    EXPECT_EQ(Reads(20), (std::vector<int>{9, 17})) << seed;
  }
  // Another period begins at once; none ends it.
  Reset();
  dut_.scrub_i = 1000;
  Reads(900);
  dut_.scrub_i = 100;
  EXPECT_EQ(Reads(150), (std::vector<int>{2, 102}));
  first_beat_ = 2;
  dut_.scrub_i = 0;
  EXPECT_TRUE(Reads(3000).empty());
}

// One that comes due in the cycle in which another one begins, which had to
// wait, is not lost; what comes due while one waits is that one.
TEST_F(RmwTest, NoPeriodIsLost) {
  constexpr int kPeriod = 20;
  for (int late = 0; late < 2 * kPeriod; ++late) {
    SCOPED_TRACE(late);
    Use(late + 1);
    dut_.scrub_i = kPeriod;
    // A write in the list until the scrub is so late.
    for (int i = 0; i < kPeriod - 2; ++i) Clock();
    dut_.take_i = 1;
    Clock();
    dut_.take_i = 0;
    Clock();
    for (int i = 0; i < late; ++i) {
      EXPECT_TRUE(dut_.busy_o);
      EXPECT_FALSE(dut_.look_o);
      Clock();
    }
    dut_.wr_ready_i = 1;
    Clock();
    dut_.wr_ready_i = 0;
    EXPECT_FALSE(dut_.busy_o);
    first_beat_ = 0;
    // It begins in this cycle, behind the write. The next one is due at the end
    // of a period from now on, and begins three cycles later at the earliest.
    const int begin = kPeriod + late + 1;
    const int due = (begin / kPeriod + 1) * kPeriod;
    const std::vector<int> expected = {1, std::max(due - begin, 3) + 1};
    std::vector<int> reads = Reads(kPeriod + 3);
    ASSERT_GE(reads.size(), 2u);
    reads.resize(2);
    EXPECT_EQ(reads, expected);
  }
}

// The data of a scrub are nobody's from its read to its answer; an error that
// it corrected is told once more, and not counted, when it is read to be
// written.
TEST_F(RmwTest, AScrubLooksAndWritesWhatItCorrected) {
  Use(5);
  dut_.scrub_i = 100;
  for (int i = 0; i < 101; ++i) {
    EXPECT_FALSE(dut_.look_o || dut_.again_o || dut_.rd_valid_o) << i;
    Clock();
  }
  dut_.scrub_i = 0;
  const auto seen = [this] {
    dut_.clk_i = 0;
    dut_.eval();
    return (dut_.rd_valid_o << 3) | (dut_.wr_valid_o << 2) |
           (dut_.look_o << 1) | dut_.again_o;
  };
  dut_.rsp_fixed_i = 1;
  const int expected[] = {0b1010, 0b0010, 0b0010, 0b1001,
                          0b0001, 0b0100, 0b0100, 0b0100};
  for (const int now : expected) {
    EXPECT_EQ(seen(), now) << &now - expected;
    if (dut_.again_o) dut_.rsp_fixed_i = 0;
    Clock();
  }
  EXPECT_EQ(dut_.wr_beat_o, 0);
  dut_.wr_ready_i = 1;
  Clock();
  EXPECT_FALSE(dut_.busy_o);
  EXPECT_EQ(seen(), 0);
}

// While clients read it waits 1,023 cycles, and no more.
TEST_F(RmwTest, TheScrubberHasPatience) {
  dut_.scrub_i = 2000;
  dut_.quiet_i = 0;
  Use(3);
  dut_.scrub_i = 2000;
  dut_.quiet_i = 0;
  const auto reads = Reads(8000);
  ASSERT_EQ(reads.size(), 3u);
  for (int k = 0; k < 3; ++k)
    EXPECT_EQ(reads[k], (k + 1) * 2000 + 1 + kPatience);
  // A quiet cycle ends the wait.
  Reset();
  dut_.scrub_i = 2000;
  dut_.quiet_i = 0;
  EXPECT_TRUE(Reads(2500).empty());
  EXPECT_FALSE(dut_.rd_valid_o);
  dut_.quiet_i = 1;
  dut_.eval();
  EXPECT_TRUE(dut_.rd_valid_o);
}

// The list takes sixteen writes in a row, also where they leave it meanwhile,
// and opens again when it is empty: at once, or, where reads wait, when these
// have had their 32 cycles.
TEST_F(RmwTest, TheListClosesAndOpens) {
  for (const bool leave : {false, true}) {
    for (const bool quiet : {false, true}) {
      SCOPED_TRACE(::testing::Message() << leave << quiet);
      Use(2 * leave + quiet);
      dut_.scrub_i = 0;
      dut_.quiet_i = quiet;
      dut_.wr_ready_i = leave;
      int taken = 0;
      for (int i = 0; i < 2 * kDepth; ++i) {
        dut_.beat_i = i;
        dut_.clk_i = 0;
        dut_.take_i = 0;
        dut_.eval();
        dut_.take_i = dut_.room_o;
        taken += dut_.room_o;
        EXPECT_EQ(dut_.room_o, i < kDepth) << i;
        if (leave && !dut_.room_o && !dut_.busy_o) break;
        Clock();
      }
      dut_.take_i = 0;
      EXPECT_EQ(taken, kDepth);
      dut_.wr_ready_i = 1;
      while (dut_.busy_o) {
        EXPECT_FALSE(dut_.room_o);
        Clock();
      }
      int shut = 0;
      for (; !dut_.room_o && shut < 100; ++shut) Clock();
      EXPECT_EQ(shut, quiet ? 1 : kRest);
    }
  }
}

}  // namespace
}  // namespace systole::hbm
