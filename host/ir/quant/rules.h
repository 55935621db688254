// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Helpers of the rules of the operations of quant/.
#ifndef SYSTOLE_HOST_IR_QUANT_RULES_H_
#define SYSTOLE_HOST_IR_QUANT_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "host/ir/module.h"
#include "host/ir/rules.h"

namespace systole::ir {

// Limit of each size in a window.
inline constexpr int64_t kMaxWindow = 1 << 20;

// Checks that a value is int8 with one scale.
absl::Status CheckActivation(const Type& type, const std::string& what);
// Checks for equal scale (within 1e-6) and zero point.
absl::Status CheckSameQuantization(const Type& a, const Type& b);
absl::Status CheckShape(const Type& type, const std::vector<int64_t>& shape);
absl::Status CheckClamp(const Ints& clamp);
// Checks that a fixed-point multiplier can represent a factor.
absl::Status CheckFactor(double factor);
// Checks that weights have zero point 0 and either one scale or one per index
// of `axis`, and that the bias, if there is one, has the scale of the products.
absl::Status CheckWeights(const Node& node, int axis);

// Checks that the shapes of two operands broadcast to the result's.
absl::Status CheckBroadcast(const Node& node);
// Checks for truth values: i8 with scale 1 and zero point 0, which are 0 or 1.
absl::Status CheckTruth(const Type& type, const std::string& what);

// Rules of one operation or of a few similar ones, as ops.cc assigns them.
absl::Status CheckConvolution(const Node& node);
absl::Status CheckDepthwise(const Node& node);
absl::Status CheckFullyConnected(const Node& node);
absl::Status CheckConv3D(const Node& node);
absl::Status CheckDenseSums(const Node& node);
absl::Status CheckDiv(const Node& node);
absl::Status CheckArithmetic(const Node& node);
absl::Status CheckExtremum(const Node& node);
absl::Status CheckSquaredDifference(const Node& node);
absl::Status CheckPrelu(const Node& node);
absl::Status CheckCompare(const Node& node);
absl::Status CheckSelect(const Node& node);
absl::Status CheckPool(const Node& node);
absl::Status CheckReduce(const Node& node);
absl::Status CheckArgument(const Node& node);
absl::Status CheckBatchMatmul(const Node& node);
absl::Status CheckTable(const Node& node);
absl::Status CheckRows(const Node& node);
absl::Status CheckHardSwish(const Node& node);
absl::Status CheckFunction(const Node& node);
absl::Status CheckRealFunction(const Node& node);
absl::Status CheckRelu(const Node& node);
absl::Status CheckRescale(const Node& node);
absl::Status CheckQuantize(const Node& node);
absl::Status CheckCast(const Node& node);
absl::Status CheckReshape(const Node& node);
absl::Status CheckPad(const Node& node);
absl::Status CheckConcatenate(const Node& node);
absl::Status CheckTranspose(const Node& node);
absl::Status CheckSlice(const Node& node);
absl::Status CheckGather(const Node& node);
absl::Status CheckResize(const Node& node);
absl::Status CheckBitcast(const Node& node);
absl::Status CheckLstmCell(const Node& node);
absl::Status CheckLstmOutput(const Node& node);
absl::Status CheckSvdfState(const Node& node);
absl::Status CheckSvdfOutput(const Node& node);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_QUANT_RULES_H_
