// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// One dimension of a sliding window.
#ifndef SYSTOLE_HOST_IR_HLO_WINDOW_H_
#define SYSTOLE_HOST_IR_HLO_WINDOW_H_

#include <algorithm>
#include <cstdint>

#include "host/ir/rules.h"

namespace systole::ir {

struct WindowDimension {
  int64_t size;    // of the operand
  int64_t window;  // taps
  int64_t stride;
  int64_t base_dilation;
  int64_t window_dilation;
  int64_t low, high;  // padding, may be negative

  int64_t padded() const {
    const int64_t dilated = size == 0 ? 0 : (size - 1) * base_dilation + 1;
    return low + dilated + high;
  }
  int64_t positions() const {
    const int64_t extent = window == 0 ? 0 : (window - 1) * window_dilation + 1;
    return padded() <= 0 || extent > padded()
               ? 0
               : (padded() - extent) / stride + 1;
  }
  // Whether a tap at a position lies between elements; this includes the
  // padding.
  bool IsBetween(int64_t position, int64_t tap) const {
    return (position * stride + tap * window_dilation - low) % base_dilation !=
           0;
  }
  // The index in the operand of a tap at a position, -1 if it is in the
  // padding or between elements.
  int64_t IndexOf(int64_t position, int64_t tap) const {
    const int64_t at = position * stride + tap * window_dilation - low;
    if (at < 0 || at % base_dilation != 0) return -1;
    const int64_t index = at / base_dilation;
    return index < size ? index : -1;
  }
};

inline WindowDimension WindowOf(const HloWindowAttributes& a, const Ints& shape,
                                int i) {
  return {shape[i],           a.window[i],          a.stride[i],
          a.base_dilation[i], a.window_dilation[i], a.low[i],
          a.high[i]};
}

inline absl::Status CheckWindow(const WindowDimension& w) {
  const auto sane = [](int64_t v) { return 1 <= v && v <= kMaxElements; };
  SYSTOLE_IR_CHECK(
      sane(w.stride) && sane(w.base_dilation) && sane(w.window_dilation) &&
          sane(w.window) &&
          std::max(std::abs(w.low), std::abs(w.high)) <= kMaxElements,
      "a window of ", w.window, " with stride ", w.stride, ", dilations ",
      w.base_dilation, " and ", w.window_dilation, ", padding ", w.low, " and ",
      w.high);
  return absl::OkStatus();
}

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_WINDOW_H_
