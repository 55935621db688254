// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Parts of layers with windows and weights.
#ifndef SYSTOLE_HOST_LOWER_PRODUCTS_H_
#define SYSTOLE_HOST_LOWER_PRODUCTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/ir/module.h"
#include "host/lower/requantise.h"
#include "systole/model.h"

namespace systole::lower {

// Kernel and stride: [height, width]; padding: [top, left, bottom, right].
model::Window WindowOf(const ir::Ints& kernel, const ir::Ints& stride,
                       const ir::Ints& padding);

// Transposes [taps][channels] to [channels][taps].
std::vector<int8_t> ByChannel(const std::vector<int8_t>& weights,
                              int64_t channels);

// The device saturates sums; the reference wraps around. Unimplemented unless
// all sums of products and bias are int32, whatever the input and the order.
absl::Status CheckSums(const ir::Node& node, const std::vector<int8_t>& weights,
                       const std::vector<int32_t>& bias);

// Unimplemented for a window that no descriptor of a pool has room for.
absl::Status CheckPool(const ir::PoolAttributes& pool);

// The factor with which a mean computes an average of uint8, whose halves are
// rounded up. Unimplemented if windows have different numbers of values.
absl::StatusOr<model::Requant> RequantOfAverage(const ir::Node& node);

// The range of sums of each channel of a dense layer.
std::vector<DenseChannel> ChannelSums(const ir::Node& node,
                                      const std::vector<int8_t>& weights,
                                      const std::vector<int32_t>& bias);

}  // namespace systole::lower

#endif  // SYSTOLE_HOST_LOWER_PRODUCTS_H_
