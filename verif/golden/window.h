// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The input positions of the taps of a sliding window.
#ifndef SYSTOLE_VERIF_GOLDEN_WINDOW_H_
#define SYSTOLE_VERIF_GOLDEN_WINDOW_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "verif/golden/ops.h"

namespace systole::golden {

// A window along one axis.
struct Axis {
  int size = 0;
  int kernel = 1;
  int stride = 1;
  int dilation = 1;
  int pad_before = 0;
  int outputs = 0;

  int64_t Tap(int output, int tap) const {
    return int64_t{output} * stride + int64_t{tap} * dilation - pad_before;
  }
  bool Inside(int64_t position) const {
    return position >= 0 && position < size;
  }
};

struct Window {
  Axis rows;
  Axis columns;
};

inline absl::StatusOr<Axis> MakeAxis(int size, int kernel, int stride,
                                     int dilation, int pad_before,
                                     int pad_after) {
  if (kernel < 1 || stride < 1 || dilation < 1 || pad_before < 0 ||
      pad_after < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "kernel ", kernel, ", stride ", stride, ", dilation ", dilation,
        ", padding ", pad_before, " and ", pad_after, " make no window"));
  }
  const int64_t padded = int64_t{size} + pad_before + pad_after;
  const int64_t extent = int64_t{dilation} * (kernel - 1) + 1;
  if (extent > padded) {
    return absl::InvalidArgumentError(
        absl::StrCat("a window of ", extent, " is larger than the input of ",
                     padded, ", padding included"));
  }
  return Axis{size,       kernel,
              stride,     dilation,
              pad_before, static_cast<int>((padded - extent) / stride + 1)};
}

inline absl::StatusOr<Window> MakeWindow(const TensorI8& input, int kernel_h,
                                         int kernel_w, const Geometry& g) {
  absl::StatusOr<Axis> rows = MakeAxis(input.h(), kernel_h, g.stride_h,
                                       g.dilation_h, g.pad_top, g.pad_bottom);
  if (!rows.ok()) return rows.status();
  absl::StatusOr<Axis> columns = MakeAxis(
      input.w(), kernel_w, g.stride_w, g.dilation_w, g.pad_left, g.pad_right);
  if (!columns.ok()) return columns.status();
  return Window{*rows, *columns};
}

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_WINDOW_H_
