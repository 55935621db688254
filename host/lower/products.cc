// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/lower/products.h"

#include <algorithm>

namespace systole::lower {

double ProductFactor(const ir::Node& node, int64_t channel) {
  return double{node.operands[0]->quantization().scale()} *
         node.operands[1]->quantization().scale(channel) /
         node.quantization().scale();
}

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

std::vector<DenseChannel> ChannelSums(const ir::Node& node,
                                      const std::vector<int8_t>& weights,
                                      const std::vector<int32_t>& bias) {
  const int zero_point = node.operands[0]->quantization().zero_point;
  const int64_t depth = node.operands[1]->type.shape[1];
  std::vector<DenseChannel> channels;
  for (int64_t c = 0; c < static_cast<int64_t>(bias.size()); ++c) {
    DenseChannel channel{ProductFactor(node, c), bias[c], bias[c]};
    for (int64_t i = 0; i < depth; ++i) {
      const int64_t w = weights[c * depth + i];
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
