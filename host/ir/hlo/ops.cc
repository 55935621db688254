// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/hlo/ops.h"

#include "absl/strings/str_cat.h"
#include "host/ir/hlo/kernels.h"
#include "host/ir/hlo/rules.h"
#include "host/ir/infer.h"

namespace systole::ir {
namespace {

struct HloOp {
  OpInfo info;
  Infer infer;
};

template <Infer kInfer, typename Kind = NoAttributes>
HloOp Define(Op op, const char* name, int min_operands, int max_operands,
             decltype(OpInfo::evaluate) evaluate, int regions = 0) {
  return {{op, name, min_operands, max_operands, regions, Kind{},
           CheckInferred<kInfer>, evaluate},
          kInfer};
}

const std::vector<HloOp>& Table() {
  static const auto& table = *new std::vector<HloOp>{
      Define<InferBinary>(Op::kHloAdd, "hlo.add", 2, 2, EvaluateHloBinary),
      Define<InferBinary>(Op::kHloSubtract, "hlo.subtract", 2, 2,
                          EvaluateHloBinary),
      Define<InferBinary>(Op::kHloMultiply, "hlo.multiply", 2, 2,
                          EvaluateHloBinary),
      Define<InferBinary>(Op::kHloDivide, "hlo.divide", 2, 2,
                          EvaluateHloBinary),
      Define<InferBinary>(Op::kHloRemainder, "hlo.remainder", 2, 2,
                          EvaluateHloBinary),
      Define<InferBinary>(Op::kHloMaximum, "hlo.maximum", 2, 2,
                          EvaluateHloBinary),
      Define<InferBinary>(Op::kHloMinimum, "hlo.minimum", 2, 2,
                          EvaluateHloBinary),
      Define<InferBinary>(Op::kHloPower, "hlo.power", 2, 2, EvaluateHloBinary),
      Define<InferBinary>(Op::kHloAtan2, "hlo.atan2", 2, 2, EvaluateHloBinary),
      Define<InferBinary>(Op::kHloAnd, "hlo.and", 2, 2, EvaluateHloBinary),
      Define<InferBinary>(Op::kHloOr, "hlo.or", 2, 2, EvaluateHloBinary),
      Define<InferBinary>(Op::kHloXor, "hlo.xor", 2, 2, EvaluateHloBinary),
      Define<InferBinary>(Op::kHloShiftLeft, "hlo.shift_left", 2, 2,
                          EvaluateHloBinary),
      Define<InferBinary>(Op::kHloShiftRightLogical, "hlo.shift_right_logical",
                          2, 2, EvaluateHloBinary),
      Define<InferBinary>(Op::kHloShiftRightArithmetic,
                          "hlo.shift_right_arithmetic", 2, 2,
                          EvaluateHloBinary),
      Define<InferUnary>(Op::kHloNot, "hlo.not", 1, 1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloAbs, "hlo.abs", 1, 1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloNegate, "hlo.negate", 1, 1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloSign, "hlo.sign", 1, 1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloExponential, "hlo.exponential", 1, 1,
                         EvaluateHloUnary),
      Define<InferUnary>(Op::kHloExponentialMinusOne,
                         "hlo.exponential_minus_one", 1, 1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloLog, "hlo.log", 1, 1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloLogPlusOne, "hlo.log_plus_one", 1, 1,
                         EvaluateHloUnary),
      Define<InferUnary>(Op::kHloLogistic, "hlo.logistic", 1, 1,
                         EvaluateHloUnary),
      Define<InferUnary>(Op::kHloSqrt, "hlo.sqrt", 1, 1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloRsqrt, "hlo.rsqrt", 1, 1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloCbrt, "hlo.cbrt", 1, 1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloTanh, "hlo.tanh", 1, 1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloTan, "hlo.tan", 1, 1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloSine, "hlo.sine", 1, 1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloCosine, "hlo.cosine", 1, 1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloFloor, "hlo.floor", 1, 1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloCeil, "hlo.ceil", 1, 1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloRoundNearestEven, "hlo.round_nearest_even", 1,
                         1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloRoundNearestAfz, "hlo.round_nearest_afz", 1, 1,
                         EvaluateHloUnary),
      Define<InferUnary>(Op::kHloPopcnt, "hlo.popcnt", 1, 1, EvaluateHloUnary),
      Define<InferUnary>(Op::kHloCountLeadingZeros, "hlo.count_leading_zeros",
                         1, 1, EvaluateHloUnary),
      Define<InferIsFinite>(Op::kHloIsFinite, "hlo.is_finite", 1, 1,
                            EvaluateHloUnary),
      Define<InferReducePrecision, HloReducePrecisionAttributes>(
          Op::kHloReducePrecision, "hlo.reduce_precision", 1, 1,
          EvaluateReducePrecision),
      Define<InferCompare, HloCompareAttributes>(Op::kHloCompare, "hlo.compare",
                                                 2, 2, EvaluateHloCompare),
      Define<InferSelect>(Op::kHloSelect, "hlo.select", 3, 3,
                          EvaluateHloSelect),
      Define<InferClamp>(Op::kHloClamp, "hlo.clamp", 3, 3, EvaluateClamp),
      Define<InferConvert>(Op::kHloConvert, "hlo.convert", 1, 1,
                           EvaluateConvert),
      Define<InferBitcastConvert>(Op::kHloBitcastConvert, "hlo.bitcast_convert",
                                  1, 1, EvaluateBitcastConvert),
      Define<InferIota, HloDimensionAttributes>(Op::kHloIota, "hlo.iota", 0, 0,
                                                EvaluateIota),
      Define<InferBroadcastInDim, HloDimensionsAttributes>(
          Op::kHloBroadcastInDim, "hlo.broadcast_in_dim", 1, 1,
          EvaluateBroadcastInDim),
      Define<InferReshape>(Op::kHloReshape, "hlo.reshape", 1, 1,
                           EvaluateHloReshape),
      Define<InferTranspose, TransposeAttributes>(
          Op::kHloTranspose, "hlo.transpose", 1, 1, EvaluateTranspose),
      Define<InferSlice, HloSliceAttributes>(Op::kHloSlice, "hlo.slice", 1, 1,
                                             EvaluateSlice),
      Define<InferDynamicSlice, HloSizesAttributes>(
          Op::kHloDynamicSlice, "hlo.dynamic_slice", 1, kUnboundedOperands,
          EvaluateDynamicSlice),
      Define<InferDynamicUpdateSlice>(
          Op::kHloDynamicUpdateSlice, "hlo.dynamic_update_slice", 2,
          kUnboundedOperands, EvaluateDynamicUpdateSlice),
      Define<InferConcatenate, HloDimensionAttributes>(
          Op::kHloConcatenate, "hlo.concatenate", 1, kUnboundedOperands,
          EvaluateConcatenate),
      Define<InferPad, HloPadAttributes>(Op::kHloPad, "hlo.pad", 2, 2,
                                         EvaluatePad),
      Define<InferReverse, HloDimensionsAttributes>(
          Op::kHloReverse, "hlo.reverse", 1, 1, EvaluateReverse),
      Define<InferGather, HloGatherAttributes>(Op::kHloGather, "hlo.gather", 2,
                                               2, EvaluateHloGather),
      Define<InferScatter, HloScatterAttributes>(Op::kHloScatter, "hlo.scatter",
                                                 3, kUnboundedOperands,
                                                 EvaluateScatter, 1),
      Define<InferDotGeneral, HloDotAttributes>(
          Op::kHloDotGeneral, "hlo.dot_general", 2, 2, EvaluateDotGeneral),
      Define<InferConvolution, HloConvolutionAttributes>(
          Op::kHloConvolution, "hlo.convolution", 2, 2, EvaluateHloConvolution),
      Define<InferReduce, HloDimensionsAttributes>(Op::kHloReduce, "hlo.reduce",
                                                   2, kUnboundedOperands,
                                                   EvaluateHloReduce, 1),
      Define<InferReduceWindow, HloWindowAttributes>(
          Op::kHloReduceWindow, "hlo.reduce_window", 2, kUnboundedOperands,
          EvaluateReduceWindow, 1),
      Define<InferSelectAndScatter, HloWindowAttributes>(
          Op::kHloSelectAndScatter, "hlo.select_and_scatter", 3,
          kUnboundedOperands, EvaluateSelectAndScatter, 2),
      Define<InferSort, HloSortAttributes>(Op::kHloSort, "hlo.sort", 1,
                                           kUnboundedOperands, EvaluateSort, 1),
      Define<InferMap, HloDimensionsAttributes>(
          Op::kHloMap, "hlo.map", 1, kUnboundedOperands, EvaluateMap, 1),
      Define<InferWhile>(Op::kHloWhile, "hlo.while", 1, kUnboundedOperands,
                         EvaluateWhile, 2),
      Define<InferIf>(Op::kHloIf, "hlo.if", 1, kUnboundedOperands, EvaluateIf,
                      2),
      Define<InferCase>(Op::kHloCase, "hlo.case", 1, kUnboundedOperands,
                        EvaluateCase, kUnboundedOperands),
      Define<InferSame>(Op::kHloOptimizationBarrier, "hlo.optimization_barrier",
                        1, kUnboundedOperands, EvaluateSame),
      Define<InferRngBitGenerator, HloRngBitsAttributes>(
          Op::kHloRngBitGenerator, "hlo.rng_bit_generator", 1, 1,
          EvaluateRngBitGenerator),
      Define<InferRng, HloRngAttributes>(Op::kHloRng, "hlo.rng", 3, 3,
                                         EvaluateRng),
      Define<InferBatchNorm, HloBatchNormAttributes>(
          Op::kHloBatchNormTraining, "hlo.batch_norm_training", 3, 3,
          EvaluateBatchNormTraining),
      Define<InferBatchNorm, HloBatchNormAttributes>(
          Op::kHloBatchNormInference, "hlo.batch_norm_inference", 5, 5,
          EvaluateBatchNormInference),
      Define<InferBatchNorm, HloBatchNormAttributes>(Op::kHloBatchNormGrad,
                                                     "hlo.batch_norm_grad", 5,
                                                     5, EvaluateBatchNormGrad),
      Define<InferCholesky, HloCholeskyAttributes>(
          Op::kHloCholesky, "hlo.cholesky", 1, 1, EvaluateCholesky),
      Define<InferTriangularSolve, HloTriangularSolveAttributes>(
          Op::kHloTriangularSolve, "hlo.triangular_solve", 2, 2,
          EvaluateTriangularSolve),
      Define<InferCollective, HloCollectiveAttributes>(
          Op::kHloAllReduce, "hlo.all_reduce", 1, kUnboundedOperands,
          EvaluateCollective, 1),
      Define<InferCollective, HloCollectiveAttributes>(
          Op::kHloAllGather, "hlo.all_gather", 1, kUnboundedOperands,
          EvaluateCollective),
      Define<InferCollective, HloCollectiveAttributes>(
          Op::kHloReduceScatter, "hlo.reduce_scatter", 1, kUnboundedOperands,
          EvaluateCollective, 1),
      Define<InferCollective, HloCollectiveAttributes>(
          Op::kHloAllToAll, "hlo.all_to_all", 1, kUnboundedOperands,
          EvaluateCollective),
      Define<InferCollective, HloCollectiveAttributes>(
          Op::kHloCollectivePermute, "hlo.collective_permute", 1, 1,
          EvaluateCollective),
      Define<InferCollective, HloCollectiveAttributes>(
          Op::kHloCollectiveBroadcast, "hlo.collective_broadcast", 1, 1,
          EvaluateCollective),
      Define<InferDeviceId>(Op::kHloPartitionId, "hlo.partition_id", 0, 0,
                            EvaluateDeviceId),
      Define<InferDeviceId>(Op::kHloReplicaId, "hlo.replica_id", 0, 0,
                            EvaluateDeviceId),
      Define<InferCustomCall, HloCustomCallAttributes>(
          Op::kHloCustomCall, "hlo.custom_call", 0, kUnboundedOperands,
          EvaluateCustomCall),
      Define<InferStrided, HloStridedAttributes>(Op::kHloStrided, "hlo.strided",
                                                 1, 1, EvaluateStrided),
      Define<InferMatrixProduct, HloMatrixProductAttributes>(
          Op::kHloMatrixProduct, "hlo.matrix_product", 2, 2,
          EvaluateMatrixProduct),
      // Only processes of a program have shards.
      Define<InferShard, HloShardAttributes>(Op::kHloShard, "hlo.shard", 1, 1,
                                             nullptr),
  };
  return table;
}

}  // namespace

std::vector<OpInfo> HloOps() {
  std::vector<OpInfo> ops;
  for (const HloOp& op : Table()) ops.push_back(op.info);
  return ops;
}

absl::StatusOr<std::vector<Type>> InferTypes(const Node& node) {
  for (const HloOp& op : Table()) {
    if (op.info.op == node.op) return op.infer(node);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the types of ", OpName(node.op), " are not worked out"));
}

}  // namespace systole::ir
