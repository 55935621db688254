// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/numerics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace systole::golden {
namespace {

constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
constexpr int32_t kHalf = 1 << 30;  // the multiplier 0.5

// Values around which rounding and saturation change, and some at random.
std::vector<int32_t> Interesting(std::mt19937& rng) {
  std::vector<int32_t> values = {kMin, kMin + 1, kMax, kMax - 1, 0};
  for (int bit = 0; bit < 31; ++bit) {
    for (int64_t near : {-1, 0, 1}) {
      values.push_back(Saturate32((int64_t{1} << bit) + near));
      values.push_back(Saturate32(-(int64_t{1} << bit) + near));
    }
  }
  for (int i = 0; i < 500; ++i) {
    values.push_back(static_cast<int32_t>(rng()) >> (rng() % 32));
  }
  return values;
}

TEST(AddSaturating, SaturatesAndKeepsTheFlag) {
  bool sticky = false;
  EXPECT_EQ(AddSaturating(kMax - 5, 5, sticky), kMax);
  EXPECT_EQ(AddSaturating(kMin + 5, -5, sticky), kMin);
  EXPECT_FALSE(sticky);
  EXPECT_EQ(AddSaturating(kMax - 5, 6, sticky), kMax);
  EXPECT_TRUE(sticky);
  EXPECT_EQ(AddSaturating(1, 1, sticky), 2);
  EXPECT_TRUE(sticky);
  sticky = false;
  EXPECT_EQ(AddSaturating(kMin, -1, sticky), kMin);
  EXPECT_TRUE(sticky);
}

TEST(SaturatingRoundingDoublingHighMul, HandComputed) {
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(kMin, kMin), kMax);
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(kMin, kMax), kMin + 1);
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(kMax, kMax), kMax - 1);
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(kMin, kHalf), -kHalf);
  // Ties round up, negative ones too.
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(1, kHalf), 1);    // 0.5
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(-1, kHalf), 0);   // -0.5
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(3, kHalf), 2);    // 1.5
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(-3, kHalf), -1);  // -1.5
  EXPECT_EQ(SaturatingRoundingDoublingHighMul(-3, kHalf + 1), -2);
}

// The form that docs/numerics.md offers to hardware.
TEST(SaturatingRoundingDoublingHighMul, EqualsAnAddAndAShift) {
  std::mt19937 rng(1);
  const std::vector<int32_t> values = Interesting(rng);
  for (int32_t a : values) {
    for (int32_t b : values) {
      if (a == kMin && b == kMin) continue;
      const int64_t expected = (int64_t{a} * b + kHalf) >> 31;
      ASSERT_EQ(SaturatingRoundingDoublingHighMul(a, b), expected)
          << a << " * " << b;
    }
  }
}

TEST(RoundingDivideByPot, HandComputed) {
  EXPECT_EQ(RoundingDivideByPot(5, 0), 5);
  EXPECT_EQ(RoundingDivideByPot(1, 1), 1);    // 0.5
  EXPECT_EQ(RoundingDivideByPot(-1, 1), -1);  // -0.5
  EXPECT_EQ(RoundingDivideByPot(3, 1), 2);    // 1.5
  EXPECT_EQ(RoundingDivideByPot(-3, 1), -2);  // -1.5
  EXPECT_EQ(RoundingDivideByPot(5, 2), 1);    // 1.25
  EXPECT_EQ(RoundingDivideByPot(-6, 2), -2);  // -1.5
  EXPECT_EQ(RoundingDivideByPot(-5, 2), -1);  // -1.25
  EXPECT_EQ(RoundingDivideByPot(kMax, 31), 1);
  EXPECT_EQ(RoundingDivideByPot(kMin, 31), -1);
  EXPECT_EQ(RoundingDivideByPot(kHalf, 31), 1);    // 0.5
  EXPECT_EQ(RoundingDivideByPot(-kHalf, 31), -1);  // -0.5
  EXPECT_EQ(RoundingDivideByPot(kHalf - 1, 31), 0);
  EXPECT_EQ(RoundingDivideByPot(-kHalf + 1, 31), 0);
}

TEST(RoundingDivideByPot, IsRoundHalfAwayFromZero) {
  std::mt19937 rng(2);
  for (int32_t x : Interesting(rng)) {
    for (int n = 0; n <= 31; ++n) {
      // Exact in a double; std::round takes halves away from zero.
      const double expected = std::round(std::ldexp(double{1} * x, -n));
      ASSERT_EQ(RoundingDivideByPot(x, n), expected) << x << " by 2^" << n;
    }
  }
}

struct Worked {
  int32_t x;
  int32_t multiplier;
  int shift;
  int32_t twice;
  int32_t once;
};

// The table of docs/numerics.md, and more.
TEST(Requantize, WorkedValues) {
  const Worked table[] = {
      {3, kHalf, 0, 2, 2},
      {-3, kHalf, 0, -1, -1},
      {-2, kHalf, -1, -1, 0},
      {5, kHalf, -1, 2, 1},
      {kHalf, kHalf, 2, kHalf, kMax},
      {kMin, kMax, 0, kMin + 1, kMin + 1},
      {kMin, kMax, -31, -1, -1},
      {kMax, kMax, 30, kMax - 1, kMax},
      {1, kHalf, -1, 1, 0},             // 0.25: twice rounds up twice
      {kMin, kHalf, 30, -kHalf, kMin},  // saturates before / after
      {kMin, kHalf, 1, -kHalf, kMin},   // the double mode saturates at -2^31
      {0, kMax, 30, 0, 0},
      {123456, 0, 0, 0, 0},
      {-123456, 0, 30, 0, 0},
      {1, kHalf, 30, 536870912, 536870912},
  };
  for (const Worked& w : table) {
    const Multiplier m = {w.multiplier, w.shift};
    EXPECT_EQ(Requantize(w.x, m, Rounding::kDouble), w.twice)
        << w.x << " * " << w.multiplier << " shift " << w.shift;
    EXPECT_EQ(Requantize(w.x, m, Rounding::kSingle), w.once)
        << w.x << " * " << w.multiplier << " shift " << w.shift;
  }
}

TEST(Requantize, SingleRoundingIsTheSaturatedRoundedProduct) {
  std::mt19937 rng(3);
  for (int32_t x : Interesting(rng)) {
    for (int shift = -31; shift <= 30; ++shift) {
      const int32_t m = kHalf + static_cast<int32_t>(rng() % kHalf);
      // 80 bits hold the 62-bit product exactly.
      const long double exact =
          std::ldexp(static_cast<long double>(x) * m, shift - 31);
      const long double rounded = std::floor(exact + 0.5L);
      const long double clamped =
          std::fmin(std::fmax(rounded, (long double)kMin), (long double)kMax);
      ASSERT_EQ(Requantize(x, {m, shift}, Rounding::kSingle), clamped)
          << x << " * " << m << " shift " << shift;
    }
  }
}

TEST(Requantize, ModesDifferByAtMostOneWithoutSaturation) {
  std::mt19937 rng(4);
  int different = 0;
  for (int i = 0; i < 100000; ++i) {
    const int32_t x = static_cast<int32_t>(rng()) >> 12;
    const Multiplier m = {kHalf + static_cast<int32_t>(rng() % kHalf),
                          -static_cast<int>(rng() % 8)};
    const int delta = Requantize(x, m, Rounding::kDouble) -
                      Requantize(x, m, Rounding::kSingle);
    ASSERT_LE(std::abs(delta), 1);
    different += delta != 0;
  }
  EXPECT_GT(different, 100);
}

TEST(RoundedAverage, HalvesGoAwayFromZero) {
  EXPECT_EQ(RoundedAverage(3, 2), 2);
  EXPECT_EQ(RoundedAverage(-3, 2), -2);
  EXPECT_EQ(RoundedAverage(1, 2), 1);
  EXPECT_EQ(RoundedAverage(-1, 2), -1);
  EXPECT_EQ(RoundedAverage(1, 3), 0);
  EXPECT_EQ(RoundedAverage(-5, 3), -2);
  EXPECT_EQ(RoundedAverage(0, 7), 0);
  EXPECT_EQ(RoundedAverage(-128 * 49, 49), -128);
  EXPECT_EQ(RoundedAverage(127 * 49, 49), 127);
}

// The form that docs/numerics.md offers to hardware, over its whole domain for
// small counts and at the edges for large ones.
TEST(RoundedAverage, EqualsAMultiplicationByAReciprocal) {
  const auto check = [](int64_t sum, int64_t n, int s) {
    const int64_t reciprocal = ((int64_t{1} << s) + n - 1) / n;
    const int64_t magnitude = ((std::abs(sum) + n / 2) * reciprocal) >> s;
    ASSERT_EQ(RoundedAverage(sum, n), sum < 0 ? -magnitude : magnitude)
        << sum << " / " << n;
  };
  for (int64_t n = 1; n <= 256; ++n) {
    for (int64_t sum = -128 * n; sum <= 127 * n; ++sum) check(sum, n, 24);
  }
  for (int64_t n = 1; n <= 4096; ++n) {
    for (int64_t q = -128; q <= 127; ++q) {
      for (int64_t rest : {-n / 2 - 1, -n / 2, int64_t{0}, n / 2, n / 2 + 1}) {
        if (std::abs(q * n + rest) <= 128 * n) check(q * n + rest, n, 32);
      }
    }
  }
}

TEST(QuantizeMultiplier, KnownFactors) {
  const auto expect = [](double real, int32_t multiplier, int shift) {
    const absl::StatusOr<Multiplier> m = QuantizeMultiplier(real);
    ASSERT_TRUE(m.ok()) << m.status();
    EXPECT_EQ(m->multiplier, multiplier) << real;
    EXPECT_EQ(m->shift, shift) << real;
  };
  expect(0, 0, 0);
  expect(1, kHalf, 1);
  expect(0.5, kHalf, 0);
  expect(0.25, kHalf, -1);
  expect(0.75, 3 << 29, 0);
  expect(std::nextafter(1.0, 0.0), kHalf, 1);  // rounds up to 2^31
  expect(std::ldexp(0.5, -31), kHalf, -31);
  expect(std::ldexp(0.5, -32), 0, 0);
  expect(std::ldexp(0.5, 30), kHalf, 30);
}

TEST(QuantizeMultiplier, RefusesWhatHasNoForm) {
  for (double real :
       {-0.5, std::ldexp(0.5, 31), std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(QuantizeMultiplier(real).status().code(),
              absl::StatusCode::kInvalidArgument)
        << real;
  }
}

}  // namespace
}  // namespace systole::golden
