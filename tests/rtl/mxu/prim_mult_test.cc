// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The multiplier of an int8 cell in logic: every product there is. So a cell
// with logic is one with a multiplier block, of which verif/formal/views.py
// proves the array.

#include "VPrimMult.h"
#include "gtest/gtest.h"
#include "verilated.h"

namespace systole::mxu_test {
namespace {

TEST(PrimMultTest, EveryProduct) {
  VerilatedContext context;
  VPrimMult dut(&context);
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      dut.a_i = static_cast<uint8_t>(a);
      dut.b_i = static_cast<uint8_t>(b);
      dut.eval();
      ASSERT_EQ(static_cast<int16_t>(dut.product_o), a * b) << a << " * " << b;
    }
  }
}

}  // namespace
}  // namespace systole::mxu_test
