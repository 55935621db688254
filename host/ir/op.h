// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The operations. Each has one result; docs/tflite.md lists operands and
// attributes, docs/numerics.md the arithmetic.
#ifndef SYSTOLE_HOST_IR_OP_H_
#define SYSTOLE_HOST_IR_OP_H_

#include <optional>
#include <string_view>

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
  kAveragePool,
  kMaxPool,
  kMean,
  kSoftmax,
  kLogistic,
  kTanh,
  kHardSwish,
  kRelu,
  kQuantize,
  kDequantize,
  kReshape,
  kPad,
  kConcatenate,
  kTranspose,
  kStridedSlice,
  kResizeNearest,
  kResizeBilinear,
};

constexpr int kUnboundedOperands = 1 << 20;

struct OpInfo {
  Op op;
  const char* name;  // in a module's text
  int min_operands;
  int max_operands;
  Attributes defaults;  // of the kind that the operation has
};

const OpInfo& InfoOf(Op op);
const char* OpName(Op op);
std::optional<Op> OpFromName(std::string_view name);
absl::Span<const OpInfo> AllOps();

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_OP_H_
