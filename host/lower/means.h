// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Means and sums over height, width or both. Where every window fits the
// unified buffer at once it is one layer of the vector unit. Larger ones go in
// pieces, of layers that take any size:
//
//   h, l     two tables: q = 16 h + l, both of them -8..8
//   H, L     sums of h and of l over windows of at most 15 values, as they are:
//            the sum of all q is that of 16 H + L, of a fifteenth as many
//   ...      the same of H and L, where those are still too many
//   y        a depthwise convolution of what is left, side by side: weights
//            1, -16 and, in several copies, -256 and -4096; the bias takes off
//            the zero point of all values, the factor is the mean's
//
// TensorFlow Lite's sums have a factor in single precision: they run here where
// a fixed-point one is proved to give the same results.
#ifndef SYSTOLE_HOST_LOWER_MEANS_H_
#define SYSTOLE_HOST_LOWER_MEANS_H_

#include "absl/status/statusor.h"
#include "host/ir/module.h"
#include "systole/model.h"
#include "systole/target.h"

namespace systole::lower {

// Adds the layers of a mean, or a sum, of tensor `input`, and gives the tensor
// of its result, in the shape that it has in memory. Errors: Unimplemented; the
// network is then as it was. `target`: null if every core is to have the
// layers.
absl::StatusOr<int> AppendMean(const ir::Node& node, int input,
                               const Target* target, model::Network& network);

}  // namespace systole::lower

#endif  // SYSTOLE_HOST_LOWER_MEANS_H_
