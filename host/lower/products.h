// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Parts of layers with windows and weights.
#ifndef SYSTOLE_HOST_LOWER_PRODUCTS_H_
#define SYSTOLE_HOST_LOWER_PRODUCTS_H_

#include <cstdint>
#include <vector>

#include "host/ir/module.h"
#include "host/lower/requantise.h"
#include "systole/model.h"

namespace systole::lower {

// s_in * s_w[c] / s_out.
double ProductFactor(const ir::Node& node, int64_t channel);

// Kernel and stride: [height, width]; padding: [top, left, bottom, right].
model::Window WindowOf(const ir::Ints& kernel, const ir::Ints& stride,
                       const ir::Ints& padding);

// Transposes [taps][channels] to [channels][taps].
std::vector<int8_t> ByChannel(const std::vector<int8_t>& weights,
                              int64_t channels);

// The range of sums of each channel of a dense layer.
std::vector<DenseChannel> ChannelSums(const ir::Node& node,
                                      const std::vector<int8_t>& weights,
                                      const std::vector<int32_t>& bias);

}  // namespace systole::lower

#endif  // SYSTOLE_HOST_LOWER_PRODUCTS_H_
