// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Groups of operations that Evaluate is made of.
#ifndef SYSTOLE_HOST_IR_EVALUATE_KERNELS_H_
#define SYSTOLE_HOST_IR_EVALUATE_KERNELS_H_

#include <algorithm>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/module.h"

namespace systole::ir {

using Operands = std::vector<const Literal*>;

// Distance in memory between neighbours along each dimension.
Ints StridesOf(const Ints& shape);

// The next index of a shape, the last dimension fastest.
void Advance(const Ints& shape, Ints& index);

// Plus the zero point, then clamped.
inline int8_t ToOutput(int64_t value, int64_t zero_point, const Ints& clamp) {
  return static_cast<int8_t>(
      std::clamp(value + zero_point, clamp[0], clamp[1]));
}

// reshape, pad, transpose, strided_slice, concatenate.
Literal EvaluateMove(const Node& node, const Operands& operands);
// add, sub, mul.
absl::StatusOr<Literal> EvaluateBinary(const Node& node,
                                       const Operands& operands);
// relu, quantize, dequantize.
absl::StatusOr<Literal> EvaluateConversion(const Node& node,
                                           const Operands& operands);
absl::StatusOr<Literal> EvaluateMean(const Node& node,
                                     const Operands& operands);
// resize_nearest, resize_bilinear.
Literal EvaluateResize(const Node& node, const Operands& operands);
// softmax, logistic, tanh.
absl::StatusOr<Literal> EvaluateTable(const Node& node,
                                      const Operands& operands);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_EVALUATE_KERNELS_H_
