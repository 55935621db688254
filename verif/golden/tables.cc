// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Softmax and hard swish.
#include <algorithm>
#include <cmath>

#include "verif/golden/fixed_point.h"
#include "verif/golden/quantized_ops.h"

namespace systole::golden {
namespace {

constexpr int kSoftmaxBits = 5;  // integer bits of differences
constexpr int kSumBits = 12;     // integer bits of sums of exponentials

// Inputs up to this many steps from the zero point fit `integer_bits` after the
// left shift.
int64_t Radius(int integer_bits, int shift) {
  return static_cast<int64_t>(std::floor(
      std::ldexp((1 << integer_bits) - 1.0, 31 - integer_bits - shift)));
}

int LeadingZeros(int32_t value) {
  return value == 0 ? 32 : __builtin_clz(static_cast<uint32_t>(value));
}

int8_t ToInt8(int64_t value) {
  return static_cast<int8_t>(std::clamp<int64_t>(value, -128, 127));
}

// One row; `rescale` maps a difference to fixed point.
template <typename T, typename Rescale>
void SoftmaxRow(const int8_t* input, T* output, int64_t depth, int64_t lowest,
                Rescale rescale) {
  const int highest = *std::max_element(input, input + depth);
  int32_t sum = 0;
  for (int64_t i = 0; i < depth; ++i) {
    const int difference = input[i] - highest;
    if (difference < lowest) continue;
    sum += RoundingDivideByPot(ExpOfNegative(rescale(difference), kSoftmaxBits),
                               kSumBits);
  }
  constexpr int bits = 8 * sizeof(T);
  const int64_t lowest_value = -(int64_t{1} << (bits - 1));
  // 1 / sum. The sum is normalised to 1 .. 2, and 1 is subtracted.
  const int zeros = LeadingZeros(sum);
  const int32_t fraction = static_cast<int32_t>(
      (static_cast<uint32_t>(sum) << zeros) - (uint32_t{1} << 31));
  const int32_t reciprocal = OneOverOnePlus(fraction);
  const int right = (kSumBits - zeros) + 31 - bits;
  for (int64_t i = 0; i < depth; ++i) {
    const int difference = input[i] - highest;
    output[i] = static_cast<T>(lowest_value);
    if (difference < lowest) continue;
    const int32_t e = ExpOfNegative(rescale(difference), kSoftmaxBits);
    output[i] = static_cast<T>(std::clamp(
        lowest_value +
            RoundingDivideByPot(
                SaturatingRoundingDoublingHighMul(reciprocal, e), right),
        lowest_value, -lowest_value - 1));
  }
}

int16_t ToInt16(int64_t value) {
  return static_cast<int16_t>(std::clamp<int64_t>(value, -0x8000, 0x7FFF));
}

}  // namespace

template <typename T>
absl::StatusOr<Array<T>> Softmax(const Array<int8_t>& input, float scale,
                                 float beta) {
  const double real =
      std::min(std::ldexp(double{beta} * scale, 31 - kSoftmaxBits),
               std::ldexp(1.0, 31) - 1);
  absl::StatusOr<Multiplier> m = QuantizeMultiplier(std::ldexp(real, -1));
  if (!m.ok()) return m.status();
  const int left = m->shift + 1;  // up to 31, one more than a Multiplier's
  if (left < 0) {
    return absl::InvalidArgumentError("softmax of too small a scale");
  }
  const auto rescale = [&](int32_t difference) {
    return SaturatingRoundingDoublingHighMul(
        Saturate32(int64_t{difference} << left), m->multiplier);
  };
  const int64_t lowest = -Radius(kSoftmaxBits, left);
  Array<T> output{input.shape, std::vector<T>(input.values.size())};
  const int64_t depth = input.shape.back();
  for (size_t row = 0; row < input.values.size(); row += depth) {
    SoftmaxRow(&input.values[row], &output.values[row], depth, lowest, rescale);
  }
  return output;
}

template absl::StatusOr<Array<int8_t>> Softmax(const Array<int8_t>& input,
                                               float scale, float beta);
template absl::StatusOr<Array<int16_t>> Softmax(const Array<int8_t>& input,
                                                float scale, float beta);

absl::StatusOr<Array<int8_t>> HardSwish(const Array<int8_t>& input, Affine from,
                                        Affine to) {
  const float fine = from.scale / 128.0f;
  const absl::StatusOr<Multiplier> scale = QuantizeMultiplier(fine / to.scale);
  const absl::StatusOr<Multiplier> gate =
      QuantizeMultiplier(fine / (3.0f / 32768.0f));
  if (!scale.ok()) return scale.status();
  if (!gate.ok()) return gate.status();
  if (scale->shift > 0) {
    return absl::InvalidArgumentError("hard_swish of too large a scale");
  }
  const auto sixteen = [](const Multiplier& m) {
    return ToInt16((int64_t{m.multiplier} + 0x8000) / 0x10000);
  };
  const auto rounded = [](int16_t a, int16_t b) {
    const int64_t product = int64_t{a} * b;
    return ToInt16((product + (product < 0 ? -0x3FFF : 0x4000)) / 0x8000);
  };
  const auto right = [](int32_t x, int exponent) -> int32_t {
    if (exponent <= 15) return RoundingDivideByPot(x, exponent);
    return x >= 0 ? 1 : -1;
  };
  Array<int8_t> output{input.shape, {}};
  for (const int8_t q : input.values) {
    const auto x = static_cast<int16_t>((q - from.zero_point) * 128);
    int16_t open = x;
    for (int bit = 1; bit < gate->shift; ++bit) open = ToInt16(2 * open);
    open = rounded(open, sixteen(*gate));
    if (gate->shift > 0) open = ToInt16(2 * open);
    if (gate->shift < 0) {
      open = static_cast<int16_t>(right(open, -gate->shift));
    }
    const auto half = static_cast<int16_t>((open + 0x8000) >> 1);
    const int64_t product = int64_t{half} * rounded(x, sixteen(*scale));
    const auto y = static_cast<int32_t>(product / 0x8000);
    output.values.push_back(
        ToInt8(int64_t{right(y, -scale->shift)} + to.zero_point));
  }
  return output;
}

}  // namespace systole::golden
