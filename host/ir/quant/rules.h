// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the rules of the operations of quant/ are made of.
#ifndef SYSTOLE_HOST_IR_QUANT_RULES_H_
#define SYSTOLE_HOST_IR_QUANT_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "host/ir/module.h"
#include "host/ir/rules.h"

namespace systole::ir {

// Of anything about a window.
inline constexpr int64_t kMaxWindow = 1 << 20;

// An int8 value with one scale.
absl::Status CheckActivation(const Type& type, const std::string& what);
// Equal scale (within 1e-6) and zero point.
absl::Status CheckSameQuantization(const Type& a, const Type& b);
absl::Status CheckShape(const Type& type, const std::vector<int64_t>& shape);
absl::Status CheckClamp(const Ints& clamp);
// A factor that a fixed-point multiplier can stand for.
absl::Status CheckFactor(double factor);
// Weights of zero point 0, one scale or one an index of `axis`; bias, if it is
// there, of the products' scale.
absl::Status CheckWeights(const Node& node, int axis);

// Shapes of two operands that stretch to the result's.
absl::Status CheckBroadcast(const Node& node);
// Truth values: i8 of scale 1 and zero point 0, which are 0 or 1.
absl::Status CheckTruth(const Type& type, const std::string& what);

// The rules of one operation or of a few alike, as ops.cc assigns them.
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
absl::Status CheckRelu(const Node& node);
absl::Status CheckQuantize(const Node& node);
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

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_QUANT_RULES_H_
