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

// Fixed-point numbers of 32 or 16 bits. The formulas are the same; the 16-bit
// constants are rounded.
template <int kBits>
struct Fixed {
  static constexpr int32_t kOne = (int64_t{1} << (kBits - 1)) - 1;

  static int32_t Saturate(int64_t value) {
    return static_cast<int32_t>(
        std::clamp<int64_t>(value, -int64_t{kOne} - 1, kOne));
  }
  static int32_t Constant(int32_t of_32_bits) {
    return kBits == 32 ? of_32_bits : ir::Shift(of_32_bits, kBits - 32);
  }
  static int32_t Shift(int32_t value, int exponent) {
    return Saturate(ir::Shift(value, exponent));
  }
  // a * b, halves rounded up.
  static int32_t Product(int32_t a, int32_t b) {
    constexpr int64_t kHalf = int64_t{1} << (kBits - 2);
    return Saturate((int64_t{a} * b + kHalf) >> (kBits - 1));
  }

  // 2 / (1 + a), with 2 integer bits: Newton's method.
  static int32_t TwiceInverse(int32_t a) {
    const auto d = static_cast<int32_t>((int64_t{a} + kOne + 1) / 2);
    constexpr int32_t kUnit = 1 << (kBits - 3);
    int32_t x = Constant(1515870810) + Product(d, Constant(-1010580540));
    for (int step = 0; step < 3; ++step) {
      x += Shift(Product(x, kUnit - Product(d, x)), 2);
    }
    return x;
  }

  static int32_t InverseOfOnePlus(int32_t a) {
    return Shift(TwiceInverse(a), 1);
  }

  static int32_t Exp(int32_t a, int integer_bits) {
    if (a == 0) return kOne;
    const int fraction_bits = kBits - 1 - integer_bits;
    if (integer_bits > 5 && a < -(1 << (fraction_bits + 5))) return 0;
    const int32_t quarter = 1 << (fraction_bits - 2);
    // a = near - rest: near in -1/4 .. 0, rest a multiple of 1/4.
    const int32_t near = (a & (quarter - 1)) - quarter;
    const int32_t rest = near - a;
    // Taylor polynomial of the fourth degree around -1/8.
    const int32_t x = Shift(near, integer_bits) + (1 << (kBits - 4));
    const int32_t x2 = Product(x, x);
    const int32_t high = Shift(Product(x2, x2), -2) + Product(x2, x);
    const int32_t series =
        x + Shift(Product(high, Constant(715827883)) + x2, -1);
    const int32_t eighth = Constant(1895147668);  // e^(-1/8)
    int32_t result = Saturate(int64_t{eighth} + Product(eighth, series));
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
        result = Product(result, Constant(step.factor));
      }
    }
    return result;
  }

  static int32_t Logistic(int32_t a, int integer_bits) {
    if (a == 0) return 1 << (kBits - 2);
    const int32_t above = InverseOfOnePlus(Exp(-std::abs(a), integer_bits));
    return a > 0 ? above : kOne - above;
  }

  static int32_t Tanh(int32_t a, int integer_bits) {
    if (a == 0) return 0;
    // Read with one more integer bit, the same bits mean 2 a.
    const int32_t e = Exp(-std::abs(a), integer_bits + 1);
    const int32_t above = Shift(TwiceInverse(e) - (1 << (kBits - 3)), 2);
    return a > 0 ? above : -above;
  }
};

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

int64_t RescaledSum(int64_t centred, int64_t count, const Quantization& from,
                    float to_scale) {
  const float scale = from.scale() / to_scale;
  const float offset =
      static_cast<float>(-from.zero_point) * scale * static_cast<float>(count);
  const auto sum = static_cast<float>(centred + count * from.zero_point);
  const float steps = std::round(sum * scale + offset);
  return static_cast<int64_t>(std::clamp(steps, -1e9f, 1e9f));
}

int32_t ExpOf(int32_t a, int integer_bits) {
  return Fixed<32>::Exp(a, integer_bits);
}

int32_t InverseOfOnePlus(int32_t a) { return Fixed<32>::InverseOfOnePlus(a); }

int16_t LogisticOf16(int16_t a) {
  return static_cast<int16_t>(Fixed<16>::Logistic(a, 3));
}

int16_t TanhOf16(int16_t a, int integer_bits) {
  return static_cast<int16_t>(Fixed<16>::Tanh(a, integer_bits));
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
