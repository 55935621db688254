// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels of the operations of quant/.
#ifndef SYSTOLE_HOST_IR_QUANT_KERNELS_H_
#define SYSTOLE_HOST_IR_QUANT_KERNELS_H_

#include <algorithm>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/index.h"
#include "host/ir/module.h"

namespace systole::ir {

inline float ScaleOf(const Node& node) { return node.quantization().scale(); }
inline int32_t ZeroOf(const Node& node) {
  return node.quantization().zero_point;
}

// Adds the zero point, then clamps.
inline int8_t ToOutput(int64_t value, int64_t zero_point, const Ints& clamp) {
  return static_cast<int8_t>(
      std::clamp(value + zero_point, clamp[0], clamp[1]));
}

// The factor of the sums of a channel: s_in * s_w[c] / s_out.
double ProductFactor(const Node& node, int64_t channel);
// The average of `count` values. Halves round away from zero, or up for uint8.
int64_t Average(int64_t sum, int64_t count, bool uint8);

// Kernels for one operation or for a few similar ones, as ops.cc assigns them.
absl::StatusOr<Literal> EvaluateConvolution(const Node& node,
                                            const Operands& operands);
absl::StatusOr<Literal> EvaluateFullyConnected(const Node& node,
                                               const Operands& operands);
absl::StatusOr<Literal> EvaluateConv3D(const Node& node,
                                       const Operands& operands);
absl::StatusOr<Literal> EvaluateDenseSums(const Node& node,
                                          const Operands& operands);
absl::StatusOr<Literal> EvaluateBinary(const Node& node,
                                       const Operands& operands);
absl::StatusOr<Literal> EvaluateCompare(const Node& node,
                                        const Operands& operands);
absl::StatusOr<Literal> EvaluateSelect(const Node& node,
                                       const Operands& operands);
absl::StatusOr<Literal> EvaluatePool(const Node& node,
                                     const Operands& operands);
absl::StatusOr<Literal> EvaluateReduce(const Node& node,
                                       const Operands& operands);
absl::StatusOr<Literal> EvaluateArgument(const Node& node,
                                         const Operands& operands);
absl::StatusOr<Literal> EvaluateBatchMatmul(const Node& node,
                                            const Operands& operands);
absl::StatusOr<Literal> EvaluateTable(const Node& node,
                                      const Operands& operands);
absl::StatusOr<Literal> EvaluateRows(const Node& node,
                                     const Operands& operands);
absl::StatusOr<Literal> EvaluateFunction(const Node& node,
                                         const Operands& operands);
absl::StatusOr<Literal> EvaluateConversion(const Node& node,
                                           const Operands& operands);
absl::StatusOr<Literal> EvaluateCast(const Node& node,
                                     const Operands& operands);
absl::StatusOr<Literal> EvaluateMove(const Node& node,
                                     const Operands& operands);
absl::StatusOr<Literal> EvaluateGather(const Node& node,
                                       const Operands& operands);
absl::StatusOr<Literal> EvaluateResize(const Node& node,
                                       const Operands& operands);

absl::StatusOr<Literal> EvaluateBitcast(const Node& node,
                                        const Operands& operands);
absl::StatusOr<Literal> EvaluateLstmCell(const Node& node,
                                         const Operands& operands);
absl::StatusOr<Literal> EvaluateSvdfState(const Node& node,
                                          const Operands& operands);
absl::StatusOr<Literal> EvaluateSvdfOutput(const Node& node,
                                           const Operands& operands);
absl::StatusOr<Literal> EvaluateLstmOutput(const Node& node,
                                           const Operands& operands);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_QUANT_KERNELS_H_
