// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/numerics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"

namespace systole::golden {
namespace {

constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax = std::numeric_limits<int32_t>::max();

}  // namespace

int32_t Saturate32(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, kMin, kMax));
}

int32_t AddSaturating(int32_t acc, int64_t addend, bool& sticky) {
  const int64_t exact = acc + addend;
  const int32_t result = Saturate32(exact);
  sticky |= result != exact;
  return result;
}

int32_t SaturatingRoundingDoublingHighMul(int32_t a, int32_t b) {
  if (a == kMin && b == kMin) return kMax;
  const int64_t product = int64_t{a} * b;
  const int64_t half = int64_t{1} << 30;
  const int64_t nudge = product >= 0 ? half : 1 - half;
  return static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
}

int32_t RoundingDivideByPot(int32_t x, int exponent) {
  const int64_t mask = (int64_t{1} << exponent) - 1;
  const int64_t remainder = x & mask;
  const int64_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return static_cast<int32_t>((int64_t{x} >> exponent) +
                              (remainder > threshold ? 1 : 0));
}

int32_t Requantize(int32_t x, Multiplier m, Rounding rounding) {
  if (rounding == Rounding::kSingle) {
    const int right = 31 - m.shift;
    const int64_t product = int64_t{x} * m.multiplier;
    return Saturate32((product + (int64_t{1} << (right - 1))) >> right);
  }
  const int left = std::max(m.shift, 0);
  const int right = std::max(-m.shift, 0);
  const int32_t shifted = Saturate32(int64_t{x} * (int64_t{1} << left));
  return RoundingDivideByPot(
      SaturatingRoundingDoublingHighMul(shifted, m.multiplier), right);
}

int64_t RoundedAverage(int64_t sum, int64_t count) {
  return sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
}

absl::StatusOr<Multiplier> QuantizeMultiplier(double real) {
  if (!std::isfinite(real) || real < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("factor ", real, " is not a finite positive number"));
  }
  if (real == 0) return Multiplier{};
  int exponent = 0;
  const double fraction = std::frexp(real, &exponent);
  // std::round rounds halves away from zero.
  int64_t q31 = static_cast<int64_t>(std::round(std::ldexp(fraction, 31)));
  if (q31 == int64_t{1} << 31) {
    q31 /= 2;
    ++exponent;
  }
  if (exponent < -31) return Multiplier{};
  if (exponent > 30) {
    return absl::InvalidArgumentError(
        absl::StrCat("factor ", real, " is too large"));
  }
  return Multiplier{static_cast<int32_t>(q31), exponent};
}

}  // namespace systole::golden
