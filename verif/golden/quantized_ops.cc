// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/quantized_ops.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "verif/golden/window.h"

namespace systole::golden {
namespace {

int8_t ToOutput(int64_t value, const OutputRange& range) {
  return static_cast<int8_t>(std::clamp<int64_t>(
      value + range.zero_point, range.clamp_min, range.clamp_max));
}

// The factor of a mean of `count` values: 1 / count is merged into the
// multiplier and rounded down.
Multiplier MeanMultiplier(Multiplier m, int64_t count) {
  int shift = 0;
  while (count >> (shift + 1) != 0) ++shift;  // floor(log2(count))
  shift = std::min({shift, 32, 31 + m.shift});
  return {static_cast<int32_t>((int64_t{m.multiplier} << shift) / count),
          m.shift - shift};
}

}  // namespace

absl::StatusOr<TensorI32> DepthwiseConv2D(const TensorI8& input,
                                          const TensorI8& weights,
                                          const Geometry& geometry,
                                          int input_zero_point,
                                          int weight_zero_point) {
  if (weights.n() != 1 || input.c() == 0 || weights.c() % input.c() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("depthwise convolution of ", input.shape(),
                     " with weights ", weights.shape()));
  }
  const absl::StatusOr<Window> window =
      MakeWindow(input, weights.h(), weights.w(), geometry);
  if (!window.ok()) return window.status();
  const int multiplier = weights.c() / input.c();
  TensorI32 output(input.n(), window->rows.outputs, window->columns.outputs,
                   weights.c());
  std::vector<int64_t> sums(weights.c());
  for (int n = 0; n < output.n(); ++n) {
    for (int y = 0; y < output.h(); ++y) {
      for (int x = 0; x < output.w(); ++x) {
        std::fill(sums.begin(), sums.end(), 0);
        for (int ky = 0; ky < weights.h(); ++ky) {
          for (int kx = 0; kx < weights.w(); ++kx) {
            const int64_t h = window->rows.Tap(y, ky);
            const int64_t w = window->columns.Tap(x, kx);
            if (!window->rows.Inside(h) || !window->columns.Inside(w)) continue;
            for (int c = 0; c < weights.c(); ++c) {
              sums[c] += (weights.at(0, ky, kx, c) - weight_zero_point) *
                         (input.at(n, h, w, c / multiplier) - input_zero_point);
            }
          }
        }
        for (int c = 0; c < weights.c(); ++c) {
          if (sums[c] != Saturate32(sums[c])) {
            return absl::OutOfRangeError("a sum of products is not an int32");
          }
          output.at(n, y, x, c) = static_cast<int32_t>(sums[c]);
        }
      }
    }
  }
  return output;
}

absl::StatusOr<TensorI8> RequantizeReal(const TensorI32& acc,
                                        const std::vector<double>& factors,
                                        const OutputRange& range) {
  if (static_cast<int>(factors.size()) != acc.c() && factors.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        factors.size(), " factors for a tensor of ", acc.c(), " channels"));
  }
  TensorI8 output(acc.n(), acc.h(), acc.w(), acc.c());
  for (size_t i = 0; i < acc.data().size(); ++i) {
    const double real = std::round(acc.data()[i] * factors[i % factors.size()]);
    output.data()[i] =
        ToOutput(static_cast<int64_t>(std::clamp(real, -1e9, 1e9)), range);
  }
  return output;
}

absl::StatusOr<TensorI8> Sub(const TensorI8& a, const TensorI8& b,
                             const AddParameters& parameters,
                             const OutputRange& range) {
  // Adds -b. The multiplier is negated, not the rounded product.
  AddParameters negated = parameters;
  negated.b.multiplier = -negated.b.multiplier;
  return Add(a, b, negated, Rounding::kDouble, range);
}

absl::StatusOr<Array<int8_t>> Mul(const Array<int8_t>& a, int zero_point_a,
                                  const Array<int8_t>& b, int zero_point_b,
                                  double factor, const OutputRange& range) {
  const absl::StatusOr<Multiplier> m = QuantizeMultiplier(factor);
  if (!m.ok()) return m.status();
  Array<int8_t> output = a;
  for (size_t i = 0; i < output.values.size(); ++i) {
    const int32_t product =
        (a.values[i] - zero_point_a) * (b.values[i] - zero_point_b);
    output.values[i] =
        ToOutput(Requantize(product, *m, Rounding::kDouble), range);
  }
  return output;
}

absl::StatusOr<Array<int8_t>> Mean(const Array<int8_t>& input,
                                   const Shape& axes, Affine from, Affine to) {
  const absl::StatusOr<Multiplier> m =
      QuantizeMultiplier(double{from.scale} / to.scale);
  if (!m.ok()) return m.status();
  Shape shape = input.shape;
  int64_t count = 1;
  for (int64_t axis : axes) {
    count *= shape[axis];
    shape[axis] = 1;
  }
  const Shape strides = Strides(shape);
  std::vector<int64_t> sums(Count(shape));
  size_t next = 0;
  ForEachIndex(input.shape, [&](const Shape& index) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) {
      if (shape[i] > 1) offset += strides[i] * index[i];
    }
    sums[offset] += input.values[next++];
  });
  const Multiplier mean = MeanMultiplier(*m, count);
  Array<int8_t> output{shape, {}};
  for (int64_t sum : sums) {
    const int64_t centred = sum - int64_t{from.zero_point} * count;
    if (centred != Saturate32(centred)) {
      return absl::OutOfRangeError("a sum of values is not an int32");
    }
    const OutputRange range = {to.zero_point, -128, 127};
    output.values.push_back(ToOutput(
        Requantize(static_cast<int32_t>(centred), mean, Rounding::kDouble),
        range));
  }
  return output;
}

absl::StatusOr<Array<int8_t>> Rescale(const Array<int8_t>& input,
                                      int zero_point, double factor,
                                      const OutputRange& range) {
  const absl::StatusOr<Multiplier> m = QuantizeMultiplier(factor);
  if (!m.ok()) return m.status();
  Array<int8_t> output = input;
  for (int8_t& value : output.values) {
    value =
        ToOutput(Requantize(value - zero_point, *m, Rounding::kDouble), range);
  }
  return output;
}

Array<int8_t> RescaleUint8(const Array<int8_t>& input, Affine from, Affine to) {
  const float inverse = 1.0f / to.scale;
  const float factor = from.scale * inverse;
  const float offset = static_cast<float>(-(from.zero_point + 128)) * factor;
  Array<int8_t> output{input.shape, {}};
  for (int8_t value : input.values) {
    const float real = static_cast<float>(value + 128) * factor + offset;
    const float steps = std::clamp(std::round(real), -1e6f, 1e6f);
    output.values.push_back(
        ToOutput(static_cast<int64_t>(steps), {to.zero_point, -128, 127}));
  }
  return output;
}

}  // namespace systole::golden
