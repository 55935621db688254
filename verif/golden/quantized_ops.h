// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operations of docs/numerics.md that are not in ops.h: those of networks other
// than convolutions, pools and residual adds.
#ifndef SYSTOLE_VERIF_GOLDEN_QUANTIZED_OPS_H_
#define SYSTOLE_VERIF_GOLDEN_QUANTIZED_OPS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "verif/golden/array_ops.h"
#include "verif/golden/ops.h"

namespace systole::golden {

// The scale and the zero point of a tensor.
struct Affine {
  float scale = 1;
  int zero_point = 0;
};

// sum over taps of (w - weight_zero_point) * (q - input_zero_point); output
// channel c reads input channel c / multiplier. Weights are
// [1][kh][kw][channels * multiplier].
absl::StatusOr<TensorI32> DepthwiseConv2D(const TensorI8& input,
                                          const TensorI8& weights,
                                          const Geometry& geometry,
                                          int input_zero_point,
                                          int weight_zero_point = 0);

// Requantises the sums of a dense layer: round(acc * factor) in double
// precision, with halves away from zero. There is one factor per output, or one
// for all.
absl::StatusOr<TensorI8> RequantizeReal(const TensorI32& acc,
                                        const std::vector<double>& factors,
                                        const OutputRange& range);

// a - b, elementwise; the parameters are those of an addition.
absl::StatusOr<TensorI8> Sub(const TensorI8& a, const TensorI8& b,
                             const AddParameters& parameters,
                             const OutputRange& range);

// a * b * factor, elementwise, for arrays of one shape.
absl::StatusOr<Array<int8_t>> Mul(const Array<int8_t>& a, int zero_point_a,
                                  const Array<int8_t>& b, int zero_point_b,
                                  double factor, const OutputRange& range);

// The mean over axes. The axes keep a size of 1.
absl::StatusOr<Array<int8_t>> Mean(const Array<int8_t>& input,
                                   const Shape& axes, Affine from, Affine to);

// Softmax along the last dimension. The result has scale 1/256 and zero point
// -128.
template <typename T>
absl::StatusOr<Array<T>> Softmax(const Array<int8_t>& input, float scale,
                                 float beta);
// x * relu6(x + 3) / 6, in 16 bits.
absl::StatusOr<Array<int8_t>> HardSwish(const Array<int8_t>& input, Affine from,
                                        Affine to);

// (q - zero_point) * factor, then clamped: for QUANTIZE from int8 to int8, and
// for ReLU as an operation.
absl::StatusOr<Array<int8_t>> Rescale(const Array<int8_t>& input,
                                      int zero_point, double factor,
                                      const OutputRange& range);
// Converts uint8 values, which are 128 above those of `input`, to another scale
// and zero point, in single precision.
Array<int8_t> RescaleUint8(const Array<int8_t>& input, Affine from, Affine to);

// Resizes height and width of [n][h][w][c] to those of the result.
struct ResizeOptions {
  bool align_corners = false;
  bool half_pixel_centers = false;
};
TensorI8 ResizeNearest(const TensorI8& input, int height, int width,
                       const ResizeOptions& options);
TensorI8 ResizeBilinear(const TensorI8& input, int height, int width,
                        const ResizeOptions& options);
// For uint8 values, which are 128 above those of `input`; in single precision.
TensorI8 ResizeBilinearUint8(const TensorI8& input, int height, int width,
                             const ResizeOptions& options);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_QUANTIZED_OPS_H_
