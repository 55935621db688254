// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/iss/numerics.h"

#include "gtest/gtest.h"

namespace systole::iss {
namespace {

// The table "Worked values" of docs/numerics.md.
TEST(Numerics, WorkedValues) {
  constexpr int32_t kHalf = 1 << 30;
  const struct {
    int32_t x, m;
    int s;
    int32_t twice, once;
  } kRows[] = {
      {3, kHalf, 0, 2, 2},
      {-3, kHalf, 0, -1, -1},
      {-2, kHalf, -1, -1, 0},
      {5, kHalf, -1, 2, 1},
      {kHalf, kHalf, 2, 1073741824, 2147483647},
      {kMin, kMax, 0, -2147483647, -2147483647},
      {kMin, kMax, -31, -1, -1},
      {kMax, kMax, 30, 2147483646, 2147483647},
  };
  for (const auto& r : kRows) {
    EXPECT_EQ(Requantise(r.x, r.m, r.s, false), r.twice)
        << r.x << " " << r.m << " " << r.s;
    EXPECT_EQ(Requantise(r.x, r.m, r.s, true), r.once)
        << r.x << " " << r.m << " " << r.s;
  }
}

TEST(Numerics, Primitives) {
  EXPECT_EQ(Srdhm(kMin, kMin), kMax);
  EXPECT_EQ(Srdhm(-1, 1 << 30), 0);   // -0.5 up
  EXPECT_EQ(Srdhm(-3, 1 << 30), -1);  // -1.5 up
  EXPECT_EQ(Rdbpot(1, 1), 1);         // 0.5 away from zero
  EXPECT_EQ(Rdbpot(-1, 1), -1);
  EXPECT_EQ(Rdbpot(-3, 1), -2);
  EXPECT_EQ(Rdbpot(kMin, 31), -1);
  EXPECT_EQ(Rdbpot(kMax, 31), 1);
  EXPECT_EQ(Rdbpot(7, 0), 7);
  EXPECT_EQ(Average(3, 2), 2);
  EXPECT_EQ(Average(-3, 2), -2);
  EXPECT_EQ(Average(-5, 4), -1);
  EXPECT_EQ(Average(0, 3), 0);
  EXPECT_EQ(Clamp8(300, -128, 127), 127);
  EXPECT_EQ(Clamp8(-300, -5, 127), -5);
}

}  // namespace
}  // namespace systole::iss
