// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/quant/fixed_point.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"

namespace systole::ir {
namespace {

constexpr int32_t kMax = std::numeric_limits<int32_t>::max();

// 2 / (1 + a), with 2 integer bits: Newton's method.
int32_t TwiceInverse(int32_t a) {
  const auto d = static_cast<int32_t>((int64_t{a} + kMax + 1) / 2);
  int32_t x = 1515870810 + HighProduct(d, -1010580540);
  for (int step = 0; step < 3; ++step) {
    x += Shift(HighProduct(x, (1 << 29) - HighProduct(d, x)), 2);
  }
  return x;
}

}  // namespace

absl::StatusOr<Factor> FactorOf(double real) {
  if (!std::isfinite(real) || real < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a factor of ", real, " is not finite and positive"));
  }
  Factor factor;
  if (real == 0) return factor;
  int exponent = 0;
  auto m = static_cast<int64_t>(
      std::round(std::ldexp(std::frexp(real, &exponent), 31)));
  if (m > kMax) {
    m >>= 1;
    ++exponent;
  }
  if (exponent > 30) {
    return absl::InvalidArgumentError(
        absl::StrCat("a factor of ", real, " is 2^30 or more"));
  }
  if (exponent < -31) return factor;
  factor.multiplier = static_cast<int32_t>(m);
  factor.shift = exponent;
  return factor;
}

Factor MeanFactor(Factor factor, int64_t count) {
  int shift = 0;
  while (count >> shift > 1) ++shift;
  shift = std::min({shift, 32, 31 + factor.shift});
  factor.multiplier = static_cast<int32_t>(
      (int64_t{factor.multiplier} * (int64_t{1} << shift)) / count);
  factor.shift -= shift;
  return factor;
}

int32_t Saturate(int64_t value) {
  return static_cast<int32_t>(
      std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(), kMax));
}

int32_t HighProduct(int32_t a, int32_t b) {
  return Saturate((int64_t{a} * b + (int64_t{1} << 30)) >> 31);
}

int32_t Shift(int32_t value, int exponent) {
  if (exponent >= 0) return Saturate(int64_t{value} * (int64_t{1} << exponent));
  const int64_t half = int64_t{1} << (-exponent - 1);
  const int64_t magnitude = (std::abs(int64_t{value}) + half) >> -exponent;
  return static_cast<int32_t>(value < 0 ? -magnitude : magnitude);
}

int32_t Scale(int32_t value, Factor factor) {
  const int32_t high =
      HighProduct(Shift(value, std::max(factor.shift, 0)), factor.multiplier);
  return Shift(high, std::min(factor.shift, 0));
}

int32_t ExpOf(int32_t a, int integer_bits) {
  if (a == 0) return kMax;
  const int fraction_bits = 31 - integer_bits;
  const int32_t quarter = 1 << (fraction_bits - 2);
  // a = near - rest: near in -1/4 .. 0, rest a multiple of 1/4.
  const int32_t near = (a & (quarter - 1)) - quarter;
  const int32_t rest = near - a;
  // Around -1/8, to the fourth power.
  const int32_t x = Shift(near, integer_bits) + (1 << 28);
  const int32_t x2 = HighProduct(x, x);
  const int32_t high = Shift(HighProduct(x2, x2), -2) + HighProduct(x2, x);
  const int32_t series = x + Shift(HighProduct(high, 715827883) + x2, -1);
  int32_t result = 1895147668 + HighProduct(1895147668, series);
  // e^-(2^power) for each bit of the rest.
  constexpr struct {
    int power;
    int32_t factor;
  } kSteps[] = {{-2, 1672461947}, {-1, 1302514674}, {0, 790015084},
                {1, 290630308},   {2, 39332535},    {3, 720401},
                {4, 242}};
  for (const auto& step : kSteps) {
    if (step.power >= integer_bits) break;
    if ((rest & 1 << (fraction_bits + step.power)) != 0) {
      result = HighProduct(result, step.factor);
    }
  }
  return result;
}

int32_t InverseOfOnePlus(int32_t a) { return Shift(TwiceInverse(a), 1); }

int32_t LogisticOf(int32_t a) {
  if (a == 0) return 1 << 30;
  const int32_t above = InverseOfOnePlus(ExpOf(-std::abs(a), 4));
  return a > 0 ? above : kMax - above;
}

int32_t TanhOf(int32_t a) {
  if (a == 0) return 0;
  // The same bits with one integer bit more are 2 a.
  const int32_t e = ExpOf(-std::abs(a), 5);
  const int32_t above = Shift(TwiceInverse(e) - (1 << 29), 2);
  return a > 0 ? above : -above;
}

Factor InverseRootOf(int32_t value) {
  if (value <= 1) return {kMax, 0};
  int shift = 11;
  while (value >= 1 << 29) {
    value /= 4;
    ++shift;
  }
  const int pairs = (__builtin_clz(static_cast<uint32_t>(value)) - 1) / 2 - 1;
  shift -= pairs;
  value <<= 2 * pairs;  // 2^27 .. 2^29
  // Newton's method with 3 integer bits, from 1.
  const int32_t half = Shift(value >> 1, -1);
  int32_t x = 1 << 28;
  for (int step = 0; step < 5; ++step) {
    const int32_t cube = Shift(HighProduct(HighProduct(x, x), x), 6);
    x = Shift(HighProduct((1 << 28) + (1 << 27), x) - HighProduct(half, cube),
              3);
  }
  x = HighProduct(x, 1518500250);  // sqrt(1/2)
  if (shift < 0) {
    x <<= -shift;
    shift = 0;
  }
  return {x, -shift};
}

}  // namespace systole::ir
