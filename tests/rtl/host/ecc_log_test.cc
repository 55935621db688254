// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The log of ECC errors against what it counts, with counts of four bits, which
// end at their largest value.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "VEccLog.h"
#include "verilated.h"

namespace systole {
namespace {

TEST(EccLogTest, CountsToItsEndAndLosesNoEventInAClear) {
  constexpr uint64_t kMost = 15, kAddress = (uint64_t{1} << 36) - 1;
  std::mt19937_64 random(7);
  VerilatedContext context;
  context.randReset(2);
  VEccLog dut(&context);
  uint64_t corrected = 0, uncorrected = 0, first = 0, last = 0, bad = 0;
  int ends = 0;
  for (int cycle = 0; cycle < 40000; ++cycle) {
    dut.rst_ni = cycle > 1 && random() % 500 != 0;
    dut.clear_i = random() % (cycle % 1000 < 500 ? 40 : 10) == 0;
    const bool fixed = random() % 2, wrong = random() % 3 == 0;
    const uint64_t address = random() & kAddress;
    dut.event_i = uint64_t{fixed} << 37 | uint64_t{wrong} << 36 | address;
    dut.clk_i = 0;
    dut.eval();
    dut.clk_i = 1;
    dut.eval();
    if (!dut.rst_ni) {
      corrected = uncorrected = first = last = bad = 0;
    } else {
      if (dut.clear_i) corrected = uncorrected = 0;
      if (fixed && corrected == 0) first = address;
      if (fixed) last = address;
      if (wrong && uncorrected == 0) bad = address;
      if (fixed && corrected < kMost) ++corrected;
      if (wrong && uncorrected < kMost) ++uncorrected;
    }
    ends += corrected == kMost;
    ASSERT_EQ(dut.corrected_o, corrected) << cycle;
    ASSERT_EQ(dut.uncorrected_o, uncorrected) << cycle;
    ASSERT_EQ(dut.first_o, first) << cycle;
    ASSERT_EQ(dut.last_o, last) << cycle;
    ASSERT_EQ(dut.bad_o, bad) << cycle;
  }
  EXPECT_GT(ends, 1000);
  dut.final();
}

}  // namespace
}  // namespace systole
