// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The soft reset: when the core is frozen, and when it is reset.

#include <gtest/gtest.h>

#include <random>

#include "VSoftReset.h"
#include "verilated.h"

namespace systole {
namespace {

TEST(SoftResetTest, WaitsForTheMemoryThenResets) {
  VerilatedContext context;
  context.randReset(2);
  VSoftReset dut(&context);
  auto clock = [&dut] {
    dut.clk_i = 0;
    dut.eval();
    dut.clk_i = 1;
    dut.eval();
  };
  dut.rst_ni = 0;
  dut.request_i = 0;
  dut.outstanding_i = 1;
  clock();
  clock();
  EXPECT_FALSE(dut.core_rst_no);
  dut.rst_ni = 1;
  clock();
  EXPECT_TRUE(dut.core_rst_no);
  EXPECT_FALSE(dut.busy_o);
  dut.request_i = 1;
  clock();
  dut.request_i = 0;
  for (int i = 0; i < 100; ++i) {
    clock();
    ASSERT_TRUE(dut.freeze_o);
    ASSERT_TRUE(dut.core_rst_no) << "reset while the memory is busy";
  }
  dut.outstanding_i = 0;
  int low = 0;
  for (int i = 0; i < 40; ++i) {
    clock();
    low += !dut.core_rst_no;
    if (!dut.core_rst_no) ASSERT_GE(i, 15);
  }
  EXPECT_EQ(low, 4);
  EXPECT_FALSE(dut.busy_o);
  EXPECT_TRUE(dut.core_rst_no);
}

// Against its states, with requests, traffic and resets at any time: 16 cycles
// without traffic after a request, 4 of the core's reset, which comes a cycle
// after the count.
TEST(SoftResetTest, FollowsItsStatesAtAnyTime) {
  std::mt19937 rng(5);
  VerilatedContext context;
  context.randReset(2);
  VSoftReset dut(&context);
  enum { kIdle, kDrain, kHold } state = kIdle;
  int count = 0, resets = 0;
  bool core_reset = true;
  for (int cycle = 0; cycle < 20000; ++cycle) {
    dut.rst_ni = cycle > 1 && rng() % 200 != 0;
    dut.request_i = rng() % 30 == 0;
    dut.outstanding_i = rng() % 25 == 0;
    dut.clk_i = 0;
    dut.eval();
    dut.clk_i = 1;
    dut.eval();
    core_reset = !dut.rst_ni || state == kHold;
    if (!dut.rst_ni) {
      state = kIdle;
    } else if (state == kIdle) {
      count = 0;
      if (dut.request_i) state = kDrain;
    } else if (state == kDrain) {
      count = dut.outstanding_i ? 0 : count + 1;
      if (count == 16) state = kHold, count = 0;
    } else if (++count == 4) {
      state = kIdle;
      ++resets;
    }
    ASSERT_EQ(dut.busy_o, state != kIdle) << "cycle " << cycle;
    ASSERT_EQ(dut.freeze_o, state != kIdle) << "cycle " << cycle;
    ASSERT_EQ(dut.core_rst_no, !core_reset) << "cycle " << cycle;
  }
  EXPECT_GT(resets, 50);
}

}  // namespace
}  // namespace systole
