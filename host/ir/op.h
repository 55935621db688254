// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The operations. docs/tflite.md and docs/hlo.md list operands and attributes,
// docs/numerics.md and docs/hlo.md the arithmetic.
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
  kConv3D,
  kFullyConnected,
  kDenseSums,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kPow,
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
  kSin,
  kCos,
  kFloor,
  kCeil,
  kRound,
  kRelu,
  kRescale,
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
  kBitcast,
  kLstmCell,
  kLstmOutput,
  kSvdfState,
  kSvdfOutput,
  kCast,
  // Of hlo/, in the order of its table.
  kHloAdd,
  kHloSubtract,
  kHloMultiply,
  kHloDivide,
  kHloRemainder,
  kHloMaximum,
  kHloMinimum,
  kHloPower,
  kHloAtan2,
  kHloAnd,
  kHloOr,
  kHloXor,
  kHloShiftLeft,
  kHloShiftRightLogical,
  kHloShiftRightArithmetic,
  kHloNot,
  kHloAbs,
  kHloNegate,
  kHloSign,
  kHloExponential,
  kHloExponentialMinusOne,
  kHloLog,
  kHloLogPlusOne,
  kHloLogistic,
  kHloSqrt,
  kHloRsqrt,
  kHloCbrt,
  kHloTanh,
  kHloTan,
  kHloSine,
  kHloCosine,
  kHloFloor,
  kHloCeil,
  kHloRoundNearestEven,
  kHloRoundNearestAfz,
  kHloPopcnt,
  kHloCountLeadingZeros,
  kHloIsFinite,
  kHloReducePrecision,
  kHloCompare,
  kHloSelect,
  kHloClamp,
  kHloConvert,
  kHloBitcastConvert,
  kHloIota,
  kHloBroadcastInDim,
  kHloReshape,
  kHloTranspose,
  kHloSlice,
  kHloDynamicSlice,
  kHloDynamicUpdateSlice,
  kHloConcatenate,
  kHloPad,
  kHloReverse,
  kHloGather,
  kHloScatter,
  kHloDotGeneral,
  kHloConvolution,
  kHloReduce,
  kHloReduceWindow,
  kHloSelectAndScatter,
  kHloSort,
  kHloMap,
  kHloWhile,
  kHloIf,
  kHloCase,
  kHloOptimizationBarrier,
  kHloRngBitGenerator,
  kHloRng,
  kHloBatchNormTraining,
  kHloBatchNormInference,
  kHloBatchNormGrad,
  kHloCholesky,
  kHloTriangularSolve,
  kHloAllReduce,
  kHloAllGather,
  kHloReduceScatter,
  kHloAllToAll,
  kHloCollectivePermute,
  kHloCollectiveBroadcast,
  kHloPartitionId,
  kHloReplicaId,
  kHloCustomCall,
  // Made by the compiler from products.
  kHloStrided,
  kHloMatrixProduct,
  // Made by the compiler of programs over several devices.
  kHloShard,
};

constexpr int kUnboundedOperands = 1 << 20;

// The sets: core operations, TensorFlow Lite's operations on quantised values,
// those of StableHLO.
enum class OpSet { kCore, kQuant, kHlo };

struct Node;
class Evaluation;
using Operands = std::vector<const Literal*>;
using Literals = std::vector<Literal>;

struct OpInfo {
  Op op;
  const char* name;  // in a module's text; those of hlo/ begin with "hlo."
  int min_operands;
  int max_operands;
  int regions;          // or kUnboundedOperands: at least one
  Attributes defaults;  // of the kind that the operation has
  // The verifier's rule; it runs after the numbers of operands and regions and
  // the regions themselves were checked.
  absl::Status (*check)(const Node& node);
  // Evaluates a verified node; null if the operation has no evaluator.
  absl::StatusOr<Literals> (*evaluate)(const Node& node,
                                       const Operands& operands,
                                       Evaluation& evaluation);
};

const OpInfo& InfoOf(Op op);
// Whether each element of the result follows from those at its place: add to
// convert.
constexpr bool IsElementwiseOp(Op op) {
  return Op::kHloAdd <= op && op <= Op::kHloConvert;
}
// Whether devices exchange values in it: all_reduce to collective_broadcast.
constexpr bool IsCollective(Op op) {
  return Op::kHloAllReduce <= op && op <= Op::kHloCollectiveBroadcast;
}
OpSet SetOf(Op op);
const char* OpName(Op op);
std::optional<Op> OpFromName(std::string_view name);
absl::Span<const OpInfo> AllOps();

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_OP_H_
