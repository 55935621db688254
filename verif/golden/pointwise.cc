// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/pointwise.h"

#include <algorithm>
#include <cmath>

#include "verif/golden/fixed_point.h"

namespace systole::golden {
namespace {

int8_t Shifted(double steps, Affine to) {
  return static_cast<int8_t>(
      std::clamp(std::clamp(steps, -2e9, 2e9) + to.zero_point, -128.0, 127.0));
}

// Applies `function` to each centred value; the result is again relative to the
// zero point.
template <typename Function>
Array<int8_t> Map(const Array<int8_t>& input, Affine from, Affine to,
                  Function function) {
  Array<int8_t> output{input.shape, {}};
  for (int8_t q : input.values) {
    output.values.push_back(Shifted(function(q - from.zero_point), to));
  }
  return output;
}

absl::Status CheckNotBelow(const Array<int8_t>& input, Affine from) {
  for (int8_t q : input.values) {
    if (q < from.zero_point) {
      return absl::InvalidArgumentError("a root of a negative number");
    }
  }
  return absl::OkStatus();
}

constexpr float kRootHalf = 0.70710678118654752440f;

}  // namespace

Array<int8_t> ByReal(const Array<int8_t>& input, Affine from, Affine to,
                     const std::function<float(float)>& function) {
  const float inverse = 1.0f / to.scale;
  return Map(input, from, to, [&](int q) {
    const float real = function(from.scale * static_cast<float>(q));
    return double{std::round(real * inverse)};
  });
}

float Elu(float x) { return x >= 0 ? x : std::expm1(x); }

float Gelu(float x, bool approximate) {
  if (approximate) {
    const float slope = 0.79788456080286535588f;  // sqrt(2 / pi)
    const float inner = slope * x * (1.0f + 0.044715f * x * x);
    return 0.5f * x * (1.0f + std::tanh(inner));
  }
  return 0.5f * x * std::erfc(x * -kRootHalf);
}

absl::StatusOr<Array<int8_t>> Abs(const Array<int8_t>& input, Affine from,
                                  Affine to) {
  const absl::StatusOr<Multiplier> m =
      QuantizeMultiplier(from.scale / to.scale);
  if (!m.ok()) return m.status();
  const bool same = from.scale == to.scale;
  return Map(input, from, to, [&](int q) {
    const int magnitude = q < 0 ? -q : q;
    return same ? magnitude : Requantize(magnitude, *m, Rounding::kDouble);
  });
}

absl::StatusOr<Array<int8_t>> LeakyRelu(const Array<int8_t>& input, Affine from,
                                        float slope, Affine to) {
  const auto whole = QuantizeMultiplier(from.scale / to.scale);
  if (!whole.ok()) return whole.status();
  const float product = from.scale * slope;
  const auto leak = QuantizeMultiplier(product / to.scale);
  if (!leak.ok()) return leak.status();
  return Map(input, from, to, [&](int q) {
    return Requantize(q, q < 0 ? *leak : *whole, Rounding::kDouble);
  });
}

absl::StatusOr<Array<int8_t>> InverseSquareRoot(const Array<int8_t>& input,
                                                Affine from, Affine to) {
  const absl::Status status = CheckNotBelow(input, from);
  if (!status.ok()) return status;
  // Single precision for the root, double for the rest.
  const double scale = double{std::sqrt(from.scale)} * to.scale;
  const auto m = QuantizeMultiplier(1.0 / scale);
  if (!m.ok()) return m.status();
  return Map(input, from, to, [&](int q) -> double {
    if (q == 0) return 1e6;  // the largest result for any zero point
    Multiplier root = OneOverSquareRoot(q);
    root.shift += 20;
    const int32_t fine = Requantize(1, root, Rounding::kDouble);
    return Requantize(fine, {m->multiplier, m->shift - 20}, Rounding::kDouble);
  });
}

absl::StatusOr<Array<int8_t>> SquareRoot(const Array<int8_t>& input,
                                         Affine from, Affine to) {
  const absl::Status status = CheckNotBelow(input, from);
  if (!status.ok()) return status;
  return Map(input, from, to, [&](int q) {
    const float real = std::sqrt(from.scale * static_cast<float>(q));
    return std::floor(double{real / to.scale});
  });
}

absl::StatusOr<Array<int8_t>> SquaredDifference(const Array<int8_t>& a,
                                                Affine of_a,
                                                const Array<int8_t>& b,
                                                Affine of_b, Affine to) {
  const float twice = 2.0f * std::max(of_a.scale, of_b.scale);
  const auto ma = QuantizeMultiplier(double{of_a.scale} / twice);
  const auto mb = QuantizeMultiplier(double{of_b.scale} / twice);
  const float square = twice * twice;
  const auto out = QuantizeMultiplier(square / (16384.0f * to.scale));
  if (!ma.ok()) return ma.status();
  if (!mb.ok()) return mb.status();
  if (!out.ok()) return out.status();
  return Zip<int8_t>(a, b, [&](int8_t x, int8_t y) {
    const int32_t left =
        Requantize(128 * (x - of_a.zero_point), *ma, Rounding::kDouble);
    const int32_t right =
        Requantize(128 * (y - of_b.zero_point), *mb, Rounding::kDouble);
    const int32_t squared = (left - right) * (left - right);
    return Shifted(Requantize(squared, *out, Rounding::kDouble), to);
  });
}

absl::StatusOr<Array<int8_t>> Prelu(const Array<int8_t>& x, Affine of_x,
                                    const Array<int8_t>& slope, Affine of_slope,
                                    Affine to) {
  const auto whole = QuantizeMultiplier(of_x.scale / to.scale);
  const float product = of_x.scale * of_slope.scale;
  const auto leak = QuantizeMultiplier(product / to.scale);
  if (!whole.ok()) return whole.status();
  if (!leak.ok()) return leak.status();
  return Zip<int8_t>(x, slope, [&](int8_t q, int8_t s) {
    const int centred = q - of_x.zero_point;
    const int32_t steps = centred < 0
                              ? Requantize(centred * (s - of_slope.zero_point),
                                           *leak, Rounding::kDouble)
                              : Requantize(centred, *whole, Rounding::kDouble);
    return Shifted(steps, to);
  });
}

absl::StatusOr<Array<int32_t>> Comparable(const Array<int8_t>& input,
                                          Affine from) {
  const auto m = QuantizeMultiplier(from.scale);
  if (!m.ok()) return m.status();
  Array<int32_t> output{input.shape, {}};
  for (int8_t q : input.values) {
    output.values.push_back(
        Requantize(256 * (q - from.zero_point), *m, Rounding::kDouble));
  }
  return output;
}

}  // namespace systole::golden
