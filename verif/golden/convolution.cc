// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Convolution and matrix product: patches times weights, in Eigen integers.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "verif/golden/ops.h"
#include "verif/golden/window.h"

namespace systole::golden {
namespace {

// |(w - z) * (q - z')| <= 255 * 255, so sums of up to this many products are
// int32.
constexpr int64_t kInt32Products =
    std::numeric_limits<int32_t>::max() / (255 * 255);

// patches [m][k], relative to the zero point, times the transpose of weights
// [n][k].
template <typename Sum>
absl::StatusOr<Matrix<int32_t>> Product(const Matrix<int32_t>& patches,
                                        const Matrix<int32_t>& weights) {
  if (patches.rows() == 0 || weights.rows() == 0) {
    return Matrix<int32_t>(patches.rows(), weights.rows());
  }
  const Matrix<Sum> sums =
      patches.template cast<Sum>() * weights.template cast<Sum>().transpose();
  if (sums.maxCoeff() > std::numeric_limits<int32_t>::max() ||
      sums.minCoeff() < std::numeric_limits<int32_t>::min()) {
    return absl::OutOfRangeError("a sum of products is not an int32");
  }
  return Matrix<int32_t>(sums.template cast<int32_t>());
}

absl::StatusOr<Matrix<int32_t>> ExactProduct(const Matrix<int32_t>& patches,
                                             const Matrix<int32_t>& weights) {
  return patches.cols() <= kInt32Products ? Product<int32_t>(patches, weights)
                                          : Product<int64_t>(patches, weights);
}

// One row per output position of image `n`: its taps, minus the zero point.
Matrix<int32_t> Patches(const TensorI8& input, int n, int zero_point,
                        const Window& window) {
  const int depth = input.c();
  Matrix<int32_t> patches = Matrix<int32_t>::Zero(
      int64_t{window.rows.outputs} * window.columns.outputs,
      int64_t{window.rows.kernel} * window.columns.kernel * depth);
  int64_t row = 0;
  for (int y = 0; y < window.rows.outputs; ++y) {
    for (int x = 0; x < window.columns.outputs; ++x, ++row) {
      int64_t column = 0;
      for (int ky = 0; ky < window.rows.kernel; ++ky) {
        for (int kx = 0; kx < window.columns.kernel; ++kx, column += depth) {
          const int64_t h = window.rows.Tap(y, ky);
          const int64_t w = window.columns.Tap(x, kx);
          if (!window.rows.Inside(h) || !window.columns.Inside(w)) continue;
          for (int c = 0; c < depth; ++c) {
            patches(row, column + c) = input.at(n, h, w, c) - zero_point;
          }
        }
      }
    }
  }
  return patches;
}

}  // namespace

absl::StatusOr<TensorI32> Conv2D(const TensorI8& input, const TensorI8& weights,
                                 const Geometry& geometry, int input_zero_point,
                                 int weight_zero_point) {
  if (input.c() != weights.c()) {
    return absl::InvalidArgumentError(
        absl::StrCat("convolution of ", input.shape(), " with weights ",
                     weights.shape(), ": channels differ"));
  }
  const absl::StatusOr<Window> window =
      MakeWindow(input, weights.h(), weights.w(), geometry);
  if (!window.ok()) return window.status();
  const Matrix<int32_t> taps =
      weights.matrix(int64_t{1} * weights.h() * weights.w() * weights.c())
          .cast<int32_t>()
          .array() -
      weight_zero_point;
  TensorI32 output(input.n(), window->rows.outputs, window->columns.outputs,
                   weights.n());
  auto next = output.data().begin();
  for (int n = 0; n < input.n(); ++n) {
    const absl::StatusOr<Matrix<int32_t>> sums =
        ExactProduct(Patches(input, n, input_zero_point, *window), taps);
    if (!sums.ok()) return sums.status();
    next = std::copy_n(sums->data(), sums->size(), next);
  }
  return output;
}

absl::StatusOr<Matrix<int32_t>> Matmul(const Matrix<int8_t>& a,
                                       const Matrix<int8_t>& b,
                                       int a_zero_point, int b_zero_point) {
  if (a.cols() != b.cols()) {
    return absl::InvalidArgumentError(
        absl::StrCat("matrix product of depths ", a.cols(), " and ", b.cols()));
  }
  return ExactProduct(a.cast<int32_t>().array() - a_zero_point,
                      b.cast<int32_t>().array() - b_zero_point);
}

}  // namespace systole::golden
