// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The table of reciprocals as the RTL has it: every count and every sum that
// a window of int8 values can have gives the exact rounded average.

#include <cstdlib>

#include "Vvector_recip.h"
#include "gtest/gtest.h"
#include "tests/rtl/vector/reference.h"
#include "verilated.h"

namespace systole::vector_test {
namespace {

TEST(RecipTest, EveryCountAndSum) {
  VerilatedContext context;
  Vvector_recip table(&context);
  table.en_i = 1;
  for (int n = 1; n <= 256; ++n) {
    table.n_i = n;
    table.clk_i = 0;
    table.eval();
    table.clk_i = 1;
    table.eval();
    const int64_t reciprocal = table.recip_o;
    for (int sum = -128 * n; sum <= 127 * n; ++sum) {
      const int64_t rounded = std::abs(sum) + n / 2;
      const int64_t average = rounded * reciprocal >> 24;
      ASSERT_EQ(sum < 0 ? -average : average, Average(sum, n))
          << "sum " << sum << " of " << n;
    }
  }
}

}  // namespace
}  // namespace systole::vector_test
