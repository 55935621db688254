// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The operations. Each has one result; docs/tflite.md lists operands and
// attributes, docs/numerics.md the arithmetic.
#ifndef SYSTOLE_HOST_IR_OP_H_
#define SYSTOLE_HOST_IR_OP_H_

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "host/ir/attributes.h"

namespace systole::ir {

enum class Op {
  kParameter,
  kConstant,
  kConv2D,
  kDepthwiseConv2D,
  kFullyConnected,
  kAdd,
  kSub,
  kMul,
  kMaximum,
  kMinimum,
  kSquaredDifference,
  kPrelu,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kSelect,
  kAveragePool,
  kMaxPool,
  kMean,
  kSum,
  kReduceProd,
  kReduceMax,
  kReduceMin,
  kArgMax,
  kArgMin,
  kBatchMatmul,
  kSoftmax,
  kLogSoftmax,
  kL2Normalize,
  kLogistic,
  kTanh,
  kHardSwish,
  kAbs,
  kNeg,
  kExp,
  kLog,
  kSqrt,
  kRsqrt,
  kElu,
  kGelu,
  kLeakyRelu,
  kRelu,
  kQuantize,
  kDequantize,
  kReshape,
  kPad,
  kConcatenate,
  kTranspose,
  kStridedSlice,
  kGather,
  kResizeNearest,
  kResizeBilinear,
};

constexpr int kUnboundedOperands = 1 << 20;

struct Node;
using Operands = std::vector<const Literal*>;

struct OpInfo {
  Op op;
  const char* name;  // in a module's text
  int min_operands;
  int max_operands;
  Attributes defaults;  // of the kind that the operation has
  // The rule of the verifier, once the number of operands is right.
  absl::Status (*check)(const Node& node);
  // The values of a verified node; null if it has none of its own.
  absl::StatusOr<Literal> (*evaluate)(const Node& node,
                                      const Operands& operands);
};

const OpInfo& InfoOf(Op op);
const char* OpName(Op op);
std::optional<Op> OpFromName(std::string_view name);
absl::Span<const OpInfo> AllOps();

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_OP_H_
