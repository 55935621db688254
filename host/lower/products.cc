// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/lower/products.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "absl/strings/str_cat.h"
#include "host/ir/quant/kernels.h"

namespace systole::lower {

model::Window WindowOf(const ir::Ints& kernel, const ir::Ints& stride,
                       const ir::Ints& padding) {
  model::Window w;
  w.kernel_h = static_cast<int>(kernel[0]);
  w.kernel_w = static_cast<int>(kernel[1]);
  w.stride_h = static_cast<int>(stride[0]);
  w.stride_w = static_cast<int>(stride[1]);
  w.pad_top = static_cast<int>(padding[0]);
  w.pad_left = static_cast<int>(padding[1]);
  w.pad_bottom = static_cast<int>(padding[2]);
  w.pad_right = static_cast<int>(padding[3]);
  return w;
}

std::vector<int8_t> ByChannel(const std::vector<int8_t>& weights,
                              int64_t channels) {
  std::vector<int8_t> turned(weights.size());
  const int64_t taps = static_cast<int64_t>(weights.size()) / channels;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t t = 0; t < taps; ++t) {
      turned[c * taps + t] = weights[t * channels + c];
    }
  }
  return turned;
}

absl::Status CheckSums(const ir::Node& node, const std::vector<int8_t>& weights,
                       const std::vector<int32_t>& bias) {
  constexpr int64_t kMost = 256;  // of the input less its zero point
  const int zero = node.operands[1]->quantization().zero_point;
  const size_t channels = bias.size(), depth = weights.size() / channels;
  // Weights lie by channel; those of a depthwise convolution too by now.
  for (size_t c = 0; c < channels; ++c) {
    int64_t sum = std::abs(int64_t{bias[c]});
    for (size_t i = 0; i < depth; ++i)
      sum += kMost * std::abs(weights[c * depth + i] - zero);
    if (sum > std::numeric_limits<int32_t>::max()) {
      return absl::UnimplementedError(
          absl::StrCat("sums of channel ", c, " that may leave 32 bits"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPool(const ir::PoolAttributes& pool) {
  constexpr int64_t kMostSide = 127, kMostPositions = 256;
  const int64_t h = pool.kernel[0], w = pool.kernel[1];
  if (h <= kMostSide && w <= kMostSide && h * w <= kMostPositions)
    return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "a window of ", h, "x", w, ": the vector unit takes at most ", kMostSide,
      " a side and ", kMostPositions, " in all"));
}

absl::StatusOr<model::Requant> RequantOfAverage(const ir::Node& node) {
  const auto& a = node.attr<ir::PoolAttributes>();
  if (a.padding != ir::Ints{0, 0, 0, 0})
    return absl::UnimplementedError("averages of uint8 with padding");
  const int64_t count = a.kernel[0] * a.kernel[1];
  const int64_t zero = node.quantization().zero_point;
  return ExactSumRequant(
      {1 / static_cast<double>(count), count * (-128 - zero),
       count * (127 - zero)},
      {static_cast<int>(zero), static_cast<int>(a.clamp[0]),
       static_cast<int>(a.clamp[1])},
      [&](int64_t centred) {
        return ir::Average(centred + count * zero, count, true) - zero;
      });
}

std::vector<DenseChannel> ChannelSums(const ir::Node& node,
                                      const std::vector<int8_t>& weights,
                                      const std::vector<int32_t>& bias) {
  const int zero_point = node.operands[0]->quantization().zero_point;
  const int64_t none = node.operands[1]->quantization().zero_point;
  const int64_t depth = node.operands[1]->type.shape[1];
  std::vector<DenseChannel> channels;
  for (int64_t c = 0; c < static_cast<int64_t>(bias.size()); ++c) {
    DenseChannel channel{ir::ProductFactor(node, c), bias[c], bias[c]};
    for (int64_t i = 0; i < depth; ++i) {
      const int64_t w = weights[c * depth + i] - none;
      const int64_t at_low = w * (-128 - zero_point);
      const int64_t at_high = w * (127 - zero_point);
      channel.low += std::min(at_low, at_high);
      channel.high += std::max(at_low, at_high);
    }
    channels.push_back(channel);
  }
  return channels;
}

}  // namespace systole::lower
