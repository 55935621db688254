// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Elementwise operations of docs/numerics.md that are not in ops.h or
// quantized_ops.h. Operands of binary operations have the result's shape.
#ifndef SYSTOLE_VERIF_GOLDEN_POINTWISE_H_
#define SYSTOLE_VERIF_GOLDEN_POINTWISE_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "verif/golden/quantized_ops.h"

namespace systole::golden {

// A function computed in single precision: round(f(s (q - z)) / s_out).
Array<int8_t> ByReal(const Array<int8_t>& input, Affine from, Affine to,
                     const std::function<float(float)>& function);

// The functions on real numbers.
float Elu(float x);
float Gelu(float x, bool approximate);

// Computed in fixed point. The root of a negative number is an error.
absl::StatusOr<Array<int8_t>> Abs(const Array<int8_t>& input, Affine from,
                                  Affine to);
absl::StatusOr<Array<int8_t>> LeakyRelu(const Array<int8_t>& input, Affine from,
                                        float slope, Affine to);
absl::StatusOr<Array<int8_t>> InverseSquareRoot(const Array<int8_t>& input,
                                                Affine from, Affine to);
// Computed in single precision, rounded towards zero.
absl::StatusOr<Array<int8_t>> SquareRoot(const Array<int8_t>& input,
                                         Affine from, Affine to);

absl::StatusOr<Array<int8_t>> SquaredDifference(const Array<int8_t>& a,
                                                Affine of_a,
                                                const Array<int8_t>& b,
                                                Affine of_b, Affine to);
// x, or x * slope below zero.
absl::StatusOr<Array<int8_t>> Prelu(const Array<int8_t>& x, Affine of_x,
                                    const Array<int8_t>& slope, Affine of_slope,
                                    Affine to);
// Scales values for a comparison: to 256 times the real ones.
absl::StatusOr<Array<int32_t>> Comparable(const Array<int8_t>& input,
                                          Affine from);

// Applies `function` to each pair. T and Result may differ.
template <typename Result, typename T, typename Function>
Array<Result> Zip(const Array<T>& a, const Array<T>& b, Function function) {
  Array<Result> result{a.shape, {}};
  for (size_t i = 0; i < a.values.size(); ++i) {
    result.values.push_back(
        static_cast<Result>(function(a.values[i], b.values[i])));
  }
  return result;
}

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_POINTWISE_H_
