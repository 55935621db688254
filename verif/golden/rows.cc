// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "verif/golden/fixed_point.h"

namespace systole::golden {
namespace {

int8_t ToInt8(int64_t value) {
  return static_cast<int8_t>(std::clamp<int64_t>(value, -128, 127));
}

}  // namespace

Array<int8_t> Sum(const Array<int8_t>& input, const Shape& axes, Affine from,
                  Affine to) {
  const float ratio = from.scale / to.scale;
  Array<int8_t> output{input.shape, {}};
  for (int64_t axis : axes) output.shape[axis] = 1;
  for (const std::vector<int8_t>& group : Groups(input, axes)) {
    const float per_value = static_cast<float>(-from.zero_point) * ratio;
    const float bias = per_value * static_cast<float>(group.size());
    const int64_t sum = std::accumulate(group.begin(), group.end(), int64_t{0});
    const float scaled = static_cast<float>(sum) * ratio;
    const float steps = std::round(scaled + bias);
    output.values.push_back(ToInt8(
        static_cast<int64_t>(std::clamp(steps, -1e9f, 1e9f)) + to.zero_point));
  }
  return output;
}

Array<int8_t> LogSoftmax(const Array<int8_t>& input, float scale) {
  constexpr float kUnit = 0.0625f;
  const auto depth = static_cast<size_t>(input.shape.back());
  Array<int8_t> output{input.shape, {}};
  for (size_t first = 0; first < input.values.size(); first += depth) {
    const auto row = input.values.begin() + static_cast<int64_t>(first);
    const int top = *std::max_element(row, row + static_cast<int64_t>(depth));
    float sum = 0.0f;
    for (size_t i = 0; i < depth; ++i) {
      sum += std::exp(-scale * static_cast<float>(top - row[i]));
    }
    const float log_sum = std::log(sum);
    const float shift = (scale * static_cast<float>(top) + log_sum) / kUnit;
    for (size_t i = 0; i < depth; ++i) {
      const float exact = scale / kUnit * static_cast<float>(row[i]) - shift;
      output.values.push_back(
          ToInt8(static_cast<int64_t>(std::nearbyint(exact)) + 127));
    }
  }
  return output;
}

absl::StatusOr<Array<int8_t>> L2Normalize(const Array<int8_t>& input,
                                          Affine from, bool uint8) {
  const auto depth = static_cast<size_t>(input.shape.back());
  Array<int8_t> output{input.shape, {}};
  for (size_t first = 0; first < input.values.size(); first += depth) {
    int64_t squares = 0;
    for (size_t i = first; i < first + depth; ++i) {
      const int64_t centred = input.values[i] - from.zero_point;
      squares += centred * centred;
    }
    if (squares != Saturate32(squares)) {
      return absl::OutOfRangeError("a sum of squares is not an int32");
    }
    Multiplier m = OneOverSquareRoot(static_cast<int32_t>(squares));
    // The result 1 is stored as 128. For uint8 the numbers are multiplied by
    // 128, for int8 the factor.
    const int before = uint8 ? 128 : 1;
    if (!uint8) m.shift += 7;
    for (size_t i = first; i < first + depth; ++i) {
      const int32_t centred = before * (input.values[i] - from.zero_point);
      output.values.push_back(
          ToInt8(Requantize(centred, m, Rounding::kDouble)));
    }
  }
  return output;
}

absl::StatusOr<Array<int8_t>> BatchMatmul(const Array<int8_t>& left,
                                          Affine of_left,
                                          const Array<int8_t>& right,
                                          Affine of_right, Affine to) {
  // The product of the scales in single precision, as specified.
  const float product = of_left.scale * of_right.scale;
  const auto m = QuantizeMultiplier(double{product} / to.scale);
  if (!m.ok()) return m.status();
  const size_t rank = std::max(left.shape.size(), right.shape.size());
  Shape a = left.shape, b = right.shape;
  a.insert(a.begin(), rank - a.size(), 1);
  b.insert(b.begin(), rank - b.size(), 1);
  Shape shape = a;
  for (size_t i = 0; i + 2 < rank; ++i) shape[i] = std::max(a[i], b[i]);
  shape[rank - 1] = b[rank - 1];
  const Shape along_a = Strides(a), along_b = Strides(b);
  const int64_t depth = a[rank - 1];
  return Generate<int8_t>(shape, [&](const Shape& at) {
    int64_t x = along_a[rank - 2] * at[rank - 2], y = at[rank - 1];
    for (size_t i = 0; i + 2 < rank; ++i) {
      if (a[i] > 1) x += along_a[i] * at[i];
      if (b[i] > 1) y += along_b[i] * at[i];
    }
    int32_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      sum += (left.values[x + k] - of_left.zero_point) *
             (right.values[y + k * b[rank - 1]] - of_right.zero_point);
    }
    return ToInt8(int64_t{Requantize(sum, *m, Rounding::kDouble)} +
                  to.zero_point);
  });
}

}  // namespace systole::golden
