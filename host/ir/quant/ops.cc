// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/quant/ops.h"

#include "host/ir/quant/kernels.h"
#include "host/ir/quant/rules.h"

namespace systole::ir {
namespace {

// For operations with one result.
template <auto kEvaluate>
absl::StatusOr<Literals> One(const Node& node, const Operands& operands,
                             Evaluation&) {
  absl::StatusOr<Literal> result = kEvaluate(node, operands);
  if (!result.ok()) return result.status();
  Literals results;
  results.push_back(*std::move(result));
  return results;
}

}  // namespace

std::vector<OpInfo> QuantOps() {
  return {
      {Op::kConv2D, "conv2d", 2, 3, 0, ConvAttributes{}, CheckConvolution,
       One<EvaluateConvolution>},
      {Op::kDepthwiseConv2D, "depthwise_conv2d", 2, 3, 0, ConvAttributes{},
       CheckDepthwise, One<EvaluateConvolution>},
      {Op::kConv3D, "conv3d", 2, 3, 0, Conv3DAttributes{}, CheckConv3D,
       One<EvaluateConv3D>},
      {Op::kFullyConnected, "fully_connected", 2, 3, 0, DenseAttributes{},
       CheckFullyConnected, One<EvaluateFullyConnected>},
      {Op::kDenseSums, "dense_sums", 2, 2, 0, NoAttributes{}, CheckDenseSums,
       One<EvaluateDenseSums>},
      {Op::kAdd, "add", 2, 2, 0, ClampAttributes{}, CheckArithmetic,
       One<EvaluateBinary>},
      {Op::kSub, "sub", 2, 2, 0, ClampAttributes{}, CheckArithmetic,
       One<EvaluateBinary>},
      {Op::kMul, "mul", 2, 2, 0, ClampAttributes{}, CheckArithmetic,
       One<EvaluateBinary>},
      {Op::kDiv, "div", 2, 2, 0, NoAttributes{}, CheckDiv, One<EvaluateBinary>},
      {Op::kMaximum, "maximum", 2, 2, 0, NoAttributes{}, CheckExtremum,
       One<EvaluateBinary>},
      {Op::kMinimum, "minimum", 2, 2, 0, NoAttributes{}, CheckExtremum,
       One<EvaluateBinary>},
      {Op::kSquaredDifference, "squared_difference", 2, 2, 0, NoAttributes{},
       CheckSquaredDifference, One<EvaluateBinary>},
      {Op::kPrelu, "prelu", 2, 2, 0, NoAttributes{}, CheckPrelu,
       One<EvaluateBinary>},
      {Op::kEqual, "equal", 2, 2, 0, NoAttributes{}, CheckCompare,
       One<EvaluateCompare>},
      {Op::kNotEqual, "not_equal", 2, 2, 0, NoAttributes{}, CheckCompare,
       One<EvaluateCompare>},
      {Op::kLess, "less", 2, 2, 0, NoAttributes{}, CheckCompare,
       One<EvaluateCompare>},
      {Op::kLessEqual, "less_equal", 2, 2, 0, NoAttributes{}, CheckCompare,
       One<EvaluateCompare>},
      {Op::kSelect, "select", 3, 3, 0, NoAttributes{}, CheckSelect,
       One<EvaluateSelect>},
      {Op::kAveragePool, "average_pool", 1, 1, 0, PoolAttributes{}, CheckPool,
       One<EvaluatePool>},
      {Op::kMaxPool, "max_pool", 1, 1, 0, PoolAttributes{}, CheckPool,
       One<EvaluatePool>},
      {Op::kMean, "mean", 1, 1, 0, ReduceAttributes{}, CheckReduce,
       One<EvaluateReduce>},
      {Op::kSum, "sum", 1, 1, 0, ReduceAttributes{}, CheckReduce,
       One<EvaluateReduce>},
      {Op::kReduceProd, "reduce_prod", 1, 1, 0, ReduceAttributes{}, CheckReduce,
       One<EvaluateReduce>},
      {Op::kReduceMax, "reduce_max", 1, 1, 0, ReduceAttributes{}, CheckReduce,
       One<EvaluateReduce>},
      {Op::kReduceMin, "reduce_min", 1, 1, 0, ReduceAttributes{}, CheckReduce,
       One<EvaluateReduce>},
      {Op::kArgMax, "arg_max", 1, 1, 0, AxisAttributes{}, CheckArgument,
       One<EvaluateArgument>},
      {Op::kArgMin, "arg_min", 1, 1, 0, AxisAttributes{}, CheckArgument,
       One<EvaluateArgument>},
      {Op::kBatchMatmul, "batch_matmul", 2, 2, 0, MatmulAttributes{},
       CheckBatchMatmul, One<EvaluateBatchMatmul>},
      {Op::kSoftmax, "softmax", 1, 1, 0, SoftmaxAttributes{}, CheckTable,
       One<EvaluateTable>},
      {Op::kLogSoftmax, "log_softmax", 1, 1, 0, NoAttributes{}, CheckRows,
       One<EvaluateRows>},
      {Op::kL2Normalize, "l2_normalize", 1, 1, 0, NoAttributes{}, CheckRows,
       One<EvaluateRows>},
      {Op::kLogistic, "logistic", 1, 1, 0, NoAttributes{}, CheckTable,
       One<EvaluateFunction>},
      {Op::kTanh, "tanh", 1, 1, 0, NoAttributes{}, CheckTable,
       One<EvaluateFunction>},
      {Op::kHardSwish, "hard_swish", 1, 1, 0, NoAttributes{}, CheckHardSwish,
       One<EvaluateTable>},
      {Op::kAbs, "abs", 1, 1, 0, NoAttributes{}, CheckFunction,
       One<EvaluateFunction>},
      {Op::kNeg, "neg", 1, 1, 0, NoAttributes{}, CheckFunction,
       One<EvaluateFunction>},
      {Op::kExp, "exp", 1, 1, 0, NoAttributes{}, CheckFunction,
       One<EvaluateFunction>},
      {Op::kLog, "log", 1, 1, 0, NoAttributes{}, CheckFunction,
       One<EvaluateFunction>},
      {Op::kSqrt, "sqrt", 1, 1, 0, NoAttributes{}, CheckFunction,
       One<EvaluateFunction>},
      {Op::kRsqrt, "rsqrt", 1, 1, 0, NoAttributes{}, CheckFunction,
       One<EvaluateFunction>},
      {Op::kElu, "elu", 1, 1, 0, NoAttributes{}, CheckFunction,
       One<EvaluateFunction>},
      {Op::kGelu, "gelu", 1, 1, 0, GeluAttributes{}, CheckFunction,
       One<EvaluateFunction>},
      {Op::kLeakyRelu, "leaky_relu", 1, 1, 0, SlopeAttributes{}, CheckFunction,
       One<EvaluateFunction>},
      {Op::kRelu, "relu", 1, 1, 0, ClampAttributes{}, CheckRelu,
       One<EvaluateConversion>},
      {Op::kQuantize, "quantize", 1, 1, 0, NoAttributes{}, CheckQuantize,
       One<EvaluateConversion>},
      {Op::kDequantize, "dequantize", 1, 1, 0, NoAttributes{}, CheckQuantize,
       One<EvaluateConversion>},
      {Op::kReshape, "reshape", 1, 1, 0, NoAttributes{}, CheckReshape,
       One<EvaluateMove>},
      {Op::kPad, "pad", 1, 1, 0, PadAttributes{}, CheckPad, One<EvaluateMove>},
      {Op::kConcatenate, "concatenate", 1, kUnboundedOperands, 0,
       AxisAttributes{}, CheckConcatenate, One<EvaluateMove>},
      {Op::kTranspose, "transpose", 1, 1, 0, TransposeAttributes{},
       CheckTranspose, One<EvaluateMove>},
      {Op::kStridedSlice, "strided_slice", 1, 1, 0, SliceAttributes{},
       CheckSlice, One<EvaluateMove>},
      {Op::kGather, "gather", 2, 2, 0, GatherAttributes{}, CheckGather,
       One<EvaluateGather>},
      {Op::kResizeNearest, "resize_nearest", 1, 1, 0, ResizeAttributes{},
       CheckResize, One<EvaluateResize>},
      {Op::kResizeBilinear, "resize_bilinear", 1, 1, 0, ResizeAttributes{},
       CheckResize, One<EvaluateResize>},
      {Op::kBitcast, "bitcast", 1, 1, 0, NoAttributes{}, CheckBitcast,
       One<EvaluateBitcast>},
      {Op::kLstmCell, "lstm_cell", 3, 3, 0, LstmCellAttributes{}, CheckLstmCell,
       One<EvaluateLstmCell>},
      {Op::kLstmOutput, "lstm_output", 3, 3, 0, LstmOutputAttributes{},
       CheckLstmOutput, One<EvaluateLstmOutput>},
  };
}

}  // namespace systole::ir
