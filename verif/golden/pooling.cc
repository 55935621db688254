// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include <algorithm>

#include "verif/golden/ops.h"
#include "verif/golden/window.h"

namespace systole::golden {
namespace {

// `reduce` maps the valid taps of a window, an Eigen vector, to a value.
template <typename Reduce>
absl::StatusOr<TensorI8> Pool(const TensorI8& input, int kernel_h, int kernel_w,
                              const Geometry& geometry,
                              const OutputRange& range, Reduce reduce) {
  const absl::StatusOr<Window> window =
      MakeWindow(input, kernel_h, kernel_w, geometry);
  if (!window.ok()) return window.status();
  TensorI8 output(input.n(), window->rows.outputs, window->columns.outputs,
                  input.c());
  Eigen::Matrix<int64_t, Eigen::Dynamic, 1> taps(int64_t{kernel_h} * kernel_w);
  for (int n = 0; n < output.n(); ++n) {
    for (int y = 0; y < output.h(); ++y) {
      for (int x = 0; x < output.w(); ++x) {
        for (int c = 0; c < output.c(); ++c) {
          int64_t count = 0;
          for (int ky = 0; ky < kernel_h; ++ky) {
            for (int kx = 0; kx < kernel_w; ++kx) {
              const int64_t h = window->rows.Tap(y, ky);
              const int64_t w = window->columns.Tap(x, kx);
              if (!window->rows.Inside(h) || !window->columns.Inside(w)) {
                continue;
              }
              taps(count++) = input.at(n, h, w, c);
            }
          }
          if (count == 0) {
            return absl::InvalidArgumentError(
                absl::StrCat("pool of ", input.shape(), ": the window at ", y,
                             ",", x, " lies in the padding"));
          }
          output.at(n, y, x, c) = static_cast<int8_t>(std::clamp<int64_t>(
              reduce(taps.head(count)), range.clamp_min, range.clamp_max));
        }
      }
    }
  }
  return output;
}

}  // namespace

absl::StatusOr<TensorI8> MaxPool(const TensorI8& input, int kernel_h,
                                 int kernel_w, const Geometry& geometry,
                                 const OutputRange& range) {
  return Pool(input, kernel_h, kernel_w, geometry, range,
              [](const auto& taps) { return taps.maxCoeff(); });
}

absl::StatusOr<TensorI8> AveragePool(const TensorI8& input, int kernel_h,
                                     int kernel_w, const Geometry& geometry,
                                     const OutputRange& range) {
  return Pool(input, kernel_h, kernel_w, geometry, range, [](const auto& taps) {
    return RoundedAverage(taps.sum(), taps.size());
  });
}

absl::StatusOr<TensorI8> AveragePoolUint8(const TensorI8& input, int kernel_h,
                                          int kernel_w,
                                          const Geometry& geometry,
                                          const OutputRange& range) {
  return Pool(input, kernel_h, kernel_w, geometry, range, [](const auto& taps) {
    const int64_t of_uint8 = taps.sum() + 128 * taps.size();
    return (of_uint8 + taps.size() / 2) / taps.size() - 128;
  });
}

absl::StatusOr<TensorI8> MeanPool(const TensorI8& input, int input_zero_point,
                                  int kernel_h, int kernel_w,
                                  const Geometry& geometry,
                                  Multiplier multiplier, Rounding rounding,
                                  const OutputRange& range) {
  return Pool(input, kernel_h, kernel_w, geometry, range,
              [&](const auto& taps) {
                const int64_t sum =
                    taps.sum() - taps.size() * int64_t{input_zero_point};
                return int64_t{Requantize(static_cast<int32_t>(sum), multiplier,
                                          rounding)} +
                       range.zero_point;
              });
}

}  // namespace systole::golden
