// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operations on whole tensors: the reference for simulators and hardware. They
// follow docs/numerics.md and know nothing of tiles, memories or instructions.
//
//   TensorI32 acc = Conv2D(input, weights, geometry, zero_point).value();
//   bool saturated = false;
//   AddBias(bias, acc, saturated);
//   TensorI8 output = RequantizeChannels(acc, multipliers, Rounding::kDouble,
//                                        {output_zero_point, 0, 127}).value();
//
// Errors: InvalidArgument for shapes that do not fit, OutOfRange for a sum that
// exceeds int32.
#ifndef SYSTOLE_VERIF_GOLDEN_OPS_H_
#define SYSTOLE_VERIF_GOLDEN_OPS_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "verif/golden/numerics.h"
#include "verif/golden/tensor.h"

namespace systole::golden {

struct Geometry {
  int stride_h = 1;
  int stride_w = 1;
  int dilation_h = 1;
  int dilation_w = 1;
  int pad_top = 0;
  int pad_left = 0;
  int pad_bottom = 0;
  int pad_right = 0;
};

// How an int32 result becomes int8: add the zero point, then clamp.
struct OutputRange {
  int zero_point = 0;
  int clamp_min = -128;
  int clamp_max = 127;
};

// sum over taps and channels of (w - weight_zero_point) * (q -
// input_zero_point); taps outside the input add nothing. Weights are
// [out][kh][kw][in].
absl::StatusOr<TensorI32> Conv2D(const TensorI8& input, const TensorI8& weights,
                                 const Geometry& geometry, int input_zero_point,
                                 int weight_zero_point = 0);

// (a - a_zero_point) times the transpose of (b - b_zero_point): a is [m][k], b
// is [n][k].
absl::StatusOr<Matrix<int32_t>> Matmul(const Matrix<int8_t>& a,
                                       const Matrix<int8_t>& b,
                                       int a_zero_point, int b_zero_point = 0);

// Adds bias[c] to every value of channel c; sets `saturated` if one saturates.
absl::Status AddBias(absl::Span<const int32_t> bias, TensorI32& acc,
                     bool& saturated);

// One multiplier per channel.
absl::StatusOr<TensorI8> RequantizeChannels(
    const TensorI32& acc, absl::Span<const Multiplier> multipliers,
    Rounding rounding, const OutputRange& range);

// Pools over the taps inside the input. Every window must have at least one. It
// uses only the clamp of `range`, but all of `geometry`.
absl::StatusOr<TensorI8> MaxPool(const TensorI8& input, int kernel_h,
                                 int kernel_w, const Geometry& geometry,
                                 const OutputRange& range);
absl::StatusOr<TensorI8> AveragePool(const TensorI8& input, int kernel_h,
                                     int kernel_w, const Geometry& geometry,
                                     const OutputRange& range);

// The average of uint8 values, which are 128 above those of `input`. Halves
// round up.
absl::StatusOr<TensorI8> AveragePoolUint8(const TensorI8& input, int kernel_h,
                                          int kernel_w,
                                          const Geometry& geometry,
                                          const OutputRange& range);

// Sum over the taps inside the input, relative to its zero point, requantised.
// With a suitable multiplier this is a mean.
absl::StatusOr<TensorI8> MeanPool(const TensorI8& input, int input_zero_point,
                                  int kernel_h, int kernel_w,
                                  const Geometry& geometry,
                                  Multiplier multiplier, Rounding rounding,
                                  const OutputRange& range);

// Product of two tensors of the same shape, or of a tensor and one with a
// single position, which is broadcast.
absl::StatusOr<TensorI8> MulChannels(const TensorI8& a, int zero_point_a,
                                     const TensorI8& b, int zero_point_b,
                                     Multiplier multiplier, Rounding rounding,
                                     const OutputRange& range);

// Residual add of two tensors of the same shape.
struct AddParameters {
  int zero_point_a = 0;
  int zero_point_b = 0;
  Multiplier a;
  Multiplier b;
  Multiplier output;
};

absl::StatusOr<TensorI8> Add(const TensorI8& a, const TensorI8& b,
                             const AddParameters& parameters, Rounding rounding,
                             const OutputRange& range);

// The three factors of an add: first input, second input, output.
absl::StatusOr<std::array<Multiplier, 3>> AddMultipliers(double scale_a,
                                                         double scale_b,
                                                         double scale_output);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_OPS_H_
