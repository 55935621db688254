// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/op.h"

#include <vector>

#include "host/ir/evaluate_kernels.h"
#include "host/ir/rules.h"

namespace systole::ir {
namespace {

// In the order of the enumeration.
const std::vector<OpInfo>& Table() {
  static const auto& table = *new std::vector<OpInfo>{
      {Op::kParameter, "parameter", 0, 0, ParameterAttributes{}, CheckParameter,
       nullptr},
      {Op::kConstant, "constant", 0, 0, ConstantAttributes{}, CheckConstant,
       EvaluateConstant},
      {Op::kConv2D, "conv2d", 2, 3, ConvAttributes{}, CheckConvolution,
       EvaluateConvolution},
      {Op::kDepthwiseConv2D, "depthwise_conv2d", 2, 3, ConvAttributes{},
       CheckDepthwise, EvaluateConvolution},
      {Op::kFullyConnected, "fully_connected", 2, 3, DenseAttributes{},
       CheckFullyConnected, EvaluateFullyConnected},
      {Op::kAdd, "add", 2, 2, ClampAttributes{}, CheckArithmetic,
       EvaluateBinary},
      {Op::kSub, "sub", 2, 2, ClampAttributes{}, CheckArithmetic,
       EvaluateBinary},
      {Op::kMul, "mul", 2, 2, ClampAttributes{}, CheckArithmetic,
       EvaluateBinary},
      {Op::kMaximum, "maximum", 2, 2, NoAttributes{}, CheckExtremum,
       EvaluateBinary},
      {Op::kMinimum, "minimum", 2, 2, NoAttributes{}, CheckExtremum,
       EvaluateBinary},
      {Op::kSquaredDifference, "squared_difference", 2, 2, NoAttributes{},
       CheckSquaredDifference, EvaluateBinary},
      {Op::kPrelu, "prelu", 2, 2, NoAttributes{}, CheckPrelu, EvaluateBinary},
      {Op::kEqual, "equal", 2, 2, NoAttributes{}, CheckCompare,
       EvaluateCompare},
      {Op::kNotEqual, "not_equal", 2, 2, NoAttributes{}, CheckCompare,
       EvaluateCompare},
      {Op::kLess, "less", 2, 2, NoAttributes{}, CheckCompare, EvaluateCompare},
      {Op::kLessEqual, "less_equal", 2, 2, NoAttributes{}, CheckCompare,
       EvaluateCompare},
      {Op::kSelect, "select", 3, 3, NoAttributes{}, CheckSelect,
       EvaluateSelect},
      {Op::kAveragePool, "average_pool", 1, 1, PoolAttributes{}, CheckPool,
       EvaluatePool},
      {Op::kMaxPool, "max_pool", 1, 1, PoolAttributes{}, CheckPool,
       EvaluatePool},
      {Op::kMean, "mean", 1, 1, ReduceAttributes{}, CheckReduce,
       EvaluateReduce},
      {Op::kSum, "sum", 1, 1, ReduceAttributes{}, CheckReduce, EvaluateReduce},
      {Op::kReduceProd, "reduce_prod", 1, 1, ReduceAttributes{}, CheckReduce,
       EvaluateReduce},
      {Op::kReduceMax, "reduce_max", 1, 1, ReduceAttributes{}, CheckReduce,
       EvaluateReduce},
      {Op::kReduceMin, "reduce_min", 1, 1, ReduceAttributes{}, CheckReduce,
       EvaluateReduce},
      {Op::kArgMax, "arg_max", 1, 1, AxisAttributes{}, CheckArgument,
       EvaluateArgument},
      {Op::kArgMin, "arg_min", 1, 1, AxisAttributes{}, CheckArgument,
       EvaluateArgument},
      {Op::kBatchMatmul, "batch_matmul", 2, 2, MatmulAttributes{},
       CheckBatchMatmul, EvaluateBatchMatmul},
      {Op::kSoftmax, "softmax", 1, 1, SoftmaxAttributes{}, CheckTable,
       EvaluateTable},
      {Op::kLogSoftmax, "log_softmax", 1, 1, NoAttributes{}, CheckRows,
       EvaluateRows},
      {Op::kL2Normalize, "l2_normalize", 1, 1, NoAttributes{}, CheckRows,
       EvaluateRows},
      {Op::kLogistic, "logistic", 1, 1, NoAttributes{}, CheckTable,
       EvaluateTable},
      {Op::kTanh, "tanh", 1, 1, NoAttributes{}, CheckTable, EvaluateTable},
      {Op::kHardSwish, "hard_swish", 1, 1, NoAttributes{}, CheckHardSwish,
       EvaluateTable},
      {Op::kAbs, "abs", 1, 1, NoAttributes{}, CheckFunction, EvaluateFunction},
      {Op::kNeg, "neg", 1, 1, NoAttributes{}, CheckFunction, EvaluateFunction},
      {Op::kExp, "exp", 1, 1, NoAttributes{}, CheckFunction, EvaluateFunction},
      {Op::kLog, "log", 1, 1, NoAttributes{}, CheckFunction, EvaluateFunction},
      {Op::kSqrt, "sqrt", 1, 1, NoAttributes{}, CheckFunction,
       EvaluateFunction},
      {Op::kRsqrt, "rsqrt", 1, 1, NoAttributes{}, CheckFunction,
       EvaluateFunction},
      {Op::kElu, "elu", 1, 1, NoAttributes{}, CheckFunction, EvaluateFunction},
      {Op::kGelu, "gelu", 1, 1, GeluAttributes{}, CheckFunction,
       EvaluateFunction},
      {Op::kLeakyRelu, "leaky_relu", 1, 1, SlopeAttributes{}, CheckFunction,
       EvaluateFunction},
      {Op::kRelu, "relu", 1, 1, ClampAttributes{}, CheckRelu,
       EvaluateConversion},
      {Op::kQuantize, "quantize", 1, 1, NoAttributes{}, CheckQuantize,
       EvaluateConversion},
      {Op::kDequantize, "dequantize", 1, 1, NoAttributes{}, CheckQuantize,
       EvaluateConversion},
      {Op::kReshape, "reshape", 1, 1, NoAttributes{}, CheckReshape,
       EvaluateMove},
      {Op::kPad, "pad", 1, 1, PadAttributes{}, CheckPad, EvaluateMove},
      {Op::kConcatenate, "concatenate", 1, kUnboundedOperands, AxisAttributes{},
       CheckConcatenate, EvaluateMove},
      {Op::kTranspose, "transpose", 1, 1, TransposeAttributes{}, CheckTranspose,
       EvaluateMove},
      {Op::kStridedSlice, "strided_slice", 1, 1, SliceAttributes{}, CheckSlice,
       EvaluateMove},
      {Op::kGather, "gather", 2, 2, GatherAttributes{}, CheckGather,
       EvaluateGather},
      {Op::kResizeNearest, "resize_nearest", 1, 1, ResizeAttributes{},
       CheckResize, EvaluateResize},
      {Op::kResizeBilinear, "resize_bilinear", 1, 1, ResizeAttributes{},
       CheckResize, EvaluateResize},
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
