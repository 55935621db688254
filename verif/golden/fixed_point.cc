// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/fixed_point.h"

#include <cstdlib>
#include <limits>

#include "verif/golden/numerics.h"

namespace systole::golden {
namespace {

constexpr int32_t kOne = std::numeric_limits<int32_t>::max();

int32_t Product(int32_t a, int32_t b) {
  return SaturatingRoundingDoublingHighMul(a, b);
}

// e^a for a in -1/4 .. 0, without integer bits: the fourth-degree Taylor
// polynomial around -1/8.
int32_t ExpNearZero(int32_t a) {
  constexpr int32_t kExpOfMinusEighth = 1895147668;
  constexpr int32_t kThird = 715827883;
  const int32_t x = a + (1 << 28);
  const int32_t x2 = Product(x, x);
  const int32_t x3 = Product(x2, x);
  const int32_t x4 = Product(x2, x2);
  const int32_t quarter = SaturatingRoundingMultiplyByPot(x4, -2);
  // x^4/24 + x^3/6 + x^2/2
  const int32_t high =
      SaturatingRoundingMultiplyByPot(Product(quarter + x3, kThird) + x2, -1);
  return kExpOfMinusEighth + Product(kExpOfMinusEighth, x + high);
}

// 2 / (1 + a) with 2 integer bits, for a in 0..1 without: three steps of
// Newton's method from 48/17 - 32/17 d, where d = (1 + a) / 2.
int32_t TwoOverOnePlus(int32_t a) {
  constexpr int32_t k48Over17 = 1515870810;
  constexpr int32_t kMinus32Over17 = -1010580540;
  const int64_t sum = int64_t{a} + kOne;
  const int32_t half = static_cast<int32_t>((sum + (sum >= 0 ? 1 : -1)) / 2);
  int32_t x = k48Over17 + Product(half, kMinus32Over17);
  for (int i = 0; i < 3; ++i) {
    const int32_t error = (1 << 29) - Product(half, x);
    x += SaturatingRoundingMultiplyByPot(Product(x, error), 2);
  }
  return x;
}

}  // namespace

int32_t SaturatingRoundingMultiplyByPot(int32_t raw, int exponent) {
  return exponent < 0 ? RoundingDivideByPot(raw, -exponent)
                      : Saturate32(int64_t{raw} << exponent);
}

int32_t ExpOfNegative(int32_t a, int integer_bits) {
  // Factors e^-(2^k), for k = -2 .. 4.
  constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308,
                                  39332535,   720401,     242};
  if (a == 0) return kOne;
  const int fraction_bits = 31 - integer_bits;
  const int32_t quarter = 1 << (fraction_bits - 2);
  const int32_t near = (a & (quarter - 1)) - quarter;  // -1/4 .. 0
  int32_t result =
      ExpNearZero(SaturatingRoundingMultiplyByPot(near, integer_bits));
  const int32_t rest = near - a;  // a multiple of 1/4
  for (int k = -2; k <= 4; ++k) {
    if (integer_bits > k && (rest >> (fraction_bits + k) & 1) != 0) {
      result = Product(result, kFactors[k + 2]);
    }
  }
  return result;
}

int32_t OneOverOnePlus(int32_t a) {
  return SaturatingRoundingMultiplyByPot(TwoOverOnePlus(a), 1);
}

Multiplier OneOverSquareRoot(int32_t value) {
  if (value < 2) return {kOne, 0};
  // value = fraction * 4^(exponent - 11), with the raw value of the fraction in
  // 2^27 .. 2^29.
  int exponent = 11;
  int64_t fraction = value;
  for (; fraction >= int64_t{1} << 29; ++exponent) fraction /= 4;
  for (; fraction < int64_t{1} << 27; --exponent) fraction *= 4;
  // x <- 3/2 x - a/2 x^3. The numbers have 3 integer bits.
  constexpr int32_t kThreeHalves = 3 << 27;
  constexpr int32_t kHalfRootTwo = 1518500250;
  const int32_t half_a =
      SaturatingRoundingMultiplyByPot(static_cast<int32_t>(fraction / 2), -1);
  int32_t x = 1 << 28;
  for (int step = 0; step < 5; ++step) {
    const int32_t x3 =
        SaturatingRoundingMultiplyByPot(Product(Product(x, x), x), 6);
    x = SaturatingRoundingMultiplyByPot(
        Product(kThreeHalves, x) - Product(half_a, x3), 3);
  }
  x = Product(x, kHalfRootTwo);
  for (; exponent < 0; ++exponent) x *= 2;
  return {x, -exponent};
}

}  // namespace systole::golden
