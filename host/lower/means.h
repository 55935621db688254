// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Means and sums over height, width or both. If every window fits the unified
// buffer at once, a mean is one layer of the vector unit. Larger means are
// split into layers that take any size:
//
//   h, l     two tables: q = 16 h + l, both of them -8..8
//   H, L     sums of h and of l over windows of at most 15 values, unscaled:
//            the sum of all q is that of 16 H + L, of a fifteenth as many
//   ...      the same for H and L, while there are still too many
//   y        a depthwise convolution of what is left, side by side: weights
//            1, -16 and, in several copies, -256 and -4096; the bias subtracts
//            the zero point of all values, the factor is that of the mean
//
// TensorFlow Lite's sums have a factor in single precision. They run on the
// device where a fixed-point factor is proved to give the same results.
#ifndef SYSTOLE_HOST_LOWER_MEANS_H_
#define SYSTOLE_HOST_LOWER_MEANS_H_

#include "absl/status/statusor.h"
#include "host/ir/module.h"
#include "systole/model.h"
#include "systole/target.h"

namespace systole::lower {

// Adds the layers of a mean, or a sum, of tensor `input`. Returns the tensor of
// its result, with the shape that it has in memory. Errors: Unimplemented; the
// network is then unchanged. `target`: null if every core must support the
// layers. `images`: of every value.
absl::StatusOr<int> AppendMean(const ir::Node& node, int input,
                               const Target* target, int64_t images,
                               model::Network& network);

}  // namespace systole::lower

#endif  // SYSTOLE_HOST_LOWER_MEANS_H_
