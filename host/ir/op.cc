// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/op.h"

#include <vector>

namespace systole::ir {
namespace {

// In the order of the enumeration.
const std::vector<OpInfo>& Table() {
  static const auto& table = *new std::vector<OpInfo>{
      {Op::kParameter, "parameter", 0, 0, ParameterAttributes{}},
      {Op::kConstant, "constant", 0, 0, ConstantAttributes{}},
      {Op::kConv2D, "conv2d", 2, 3, ConvAttributes{}},
      {Op::kDepthwiseConv2D, "depthwise_conv2d", 2, 3, ConvAttributes{}},
      {Op::kFullyConnected, "fully_connected", 2, 3, DenseAttributes{}},
      {Op::kAdd, "add", 2, 2, ClampAttributes{}},
      {Op::kSub, "sub", 2, 2, ClampAttributes{}},
      {Op::kMul, "mul", 2, 2, ClampAttributes{}},
      {Op::kAveragePool, "average_pool", 1, 1, PoolAttributes{}},
      {Op::kMaxPool, "max_pool", 1, 1, PoolAttributes{}},
      {Op::kMean, "mean", 1, 1, ReduceAttributes{}},
      {Op::kSoftmax, "softmax", 1, 1, SoftmaxAttributes{}},
      {Op::kLogistic, "logistic", 1, 1, NoAttributes{}},
      {Op::kTanh, "tanh", 1, 1, NoAttributes{}},
      {Op::kHardSwish, "hard_swish", 1, 1, NoAttributes{}},
      {Op::kRelu, "relu", 1, 1, ClampAttributes{}},
      {Op::kQuantize, "quantize", 1, 1, NoAttributes{}},
      {Op::kDequantize, "dequantize", 1, 1, NoAttributes{}},
      {Op::kReshape, "reshape", 1, 1, NoAttributes{}},
      {Op::kPad, "pad", 1, 1, PadAttributes{}},
      {Op::kConcatenate, "concatenate", 1, kUnboundedOperands,
       ConcatenateAttributes{}},
      {Op::kTranspose, "transpose", 1, 1, TransposeAttributes{}},
      {Op::kStridedSlice, "strided_slice", 1, 1, SliceAttributes{}},
      {Op::kResizeNearest, "resize_nearest", 1, 1, ResizeAttributes{}},
      {Op::kResizeBilinear, "resize_bilinear", 1, 1, ResizeAttributes{}},
  };
  return table;
}

template <typename T>
bool SameValue(const T& a, const T& b) {
  return a == b;
}

bool SameValue(const std::shared_ptr<const Literal>& a,
               const std::shared_ptr<const Literal>& b) {
  return a == b || (a && b && *a == *b);
}

}  // namespace

const OpInfo& InfoOf(Op op) { return Table()[static_cast<int>(op)]; }

const char* OpName(Op op) { return InfoOf(op).name; }

std::optional<Op> OpFromName(std::string_view name) {
  for (const OpInfo& info : Table()) {
    if (name == info.name) return info.op;
  }
  return std::nullopt;
}

absl::Span<const OpInfo> AllOps() { return Table(); }

bool Equal(const Attributes& a, const Attributes& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& left) {
        using Kind = std::decay_t<decltype(left)>;
        const Kind& right = std::get<Kind>(b);
        bool equal = true;
        Kind::Fields(left, [&](const char* name, const auto& value) {
          Kind::Fields(right, [&](const char* other, const auto& expected) {
            if constexpr (std::is_same_v<decltype(value), decltype(expected)>) {
              if (std::string_view(name) == other) {
                equal = equal && SameValue(value, expected);
              }
            }
          });
        });
        return equal;
      },
      a);
}

}  // namespace systole::ir
