// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/stablehlo/operations.h"

#include <cctype>
#include <map>

#include "absl/strings/str_cat.h"
#include "host/import/stablehlo/attributes.h"
#include "host/ir/calls.h"

namespace systole::import {
namespace {

using ir::Op;

std::map<absl::string_view, OperationRule> MakeRules() {
  std::map<absl::string_view, OperationRule> rules;
  const auto add = [&](absl::string_view name, Op op,
                       ir::Attributes (*attributes)(AttributeReader&) =
                           nullptr) {
    rules[name] = {Conversion::kOperation, op, attributes, ""};
  };
  for (const auto& [name, op] :
       std::initializer_list<std::pair<absl::string_view, Op>>{
           {"vhlo.abs_v1", Op::kHloAbs},
           {"vhlo.add_v1", Op::kHloAdd},
           {"vhlo.and_v1", Op::kHloAnd},
           {"vhlo.atan2_v1", Op::kHloAtan2},
           {"vhlo.bitcast_convert_v1", Op::kHloBitcastConvert},
           {"vhlo.case_v1", Op::kHloCase},
           {"vhlo.cbrt_v1", Op::kHloCbrt},
           {"vhlo.ceil_v1", Op::kHloCeil},
           {"vhlo.clamp_v1", Op::kHloClamp},
           {"vhlo.convert_v1", Op::kHloConvert},
           {"vhlo.cosine_v1", Op::kHloCosine},
           {"vhlo.count_leading_zeros_v1", Op::kHloCountLeadingZeros},
           {"vhlo.divide_v1", Op::kHloDivide},
           {"vhlo.dynamic_update_slice_v1", Op::kHloDynamicUpdateSlice},
           {"vhlo.exponential_minus_one_v1", Op::kHloExponentialMinusOne},
           {"vhlo.exponential_v1", Op::kHloExponential},
           {"vhlo.floor_v1", Op::kHloFloor},
           {"vhlo.if_v1", Op::kHloIf},
           {"vhlo.is_finite_v1", Op::kHloIsFinite},
           {"vhlo.log_plus_one_v1", Op::kHloLogPlusOne},
           {"vhlo.log_v1", Op::kHloLog},
           {"vhlo.logistic_v1", Op::kHloLogistic},
           {"vhlo.maximum_v1", Op::kHloMaximum},
           {"vhlo.minimum_v1", Op::kHloMinimum},
           {"vhlo.multiply_v1", Op::kHloMultiply},
           {"vhlo.negate_v1", Op::kHloNegate},
           {"vhlo.not_v1", Op::kHloNot},
           {"vhlo.optimization_barrier_v1", Op::kHloOptimizationBarrier},
           {"vhlo.or_v1", Op::kHloOr},
           {"vhlo.partition_id_v1", Op::kHloPartitionId},
           {"vhlo.popcnt_v1", Op::kHloPopcnt},
           {"vhlo.power_v1", Op::kHloPower},
           {"vhlo.remainder_v1", Op::kHloRemainder},
           {"vhlo.replica_id_v1", Op::kHloReplicaId},
           {"vhlo.reshape_v1", Op::kHloReshape},
           {"vhlo.round_nearest_afz_v1", Op::kHloRoundNearestAfz},
           {"vhlo.round_nearest_even_v1", Op::kHloRoundNearestEven},
           {"vhlo.rsqrt_v1", Op::kHloRsqrt},
           {"vhlo.select_v1", Op::kHloSelect},
           {"vhlo.shift_left_v1", Op::kHloShiftLeft},
           {"vhlo.shift_right_arithmetic_v1", Op::kHloShiftRightArithmetic},
           {"vhlo.shift_right_logical_v1", Op::kHloShiftRightLogical},
           {"vhlo.sign_v1", Op::kHloSign},
           {"vhlo.sine_v1", Op::kHloSine},
           {"vhlo.sqrt_v1", Op::kHloSqrt},
           {"vhlo.subtract_v1", Op::kHloSubtract},
           {"vhlo.tan_v1", Op::kHloTan},
           {"vhlo.tanh_v1", Op::kHloTanh},
           {"vhlo.while_v1", Op::kHloWhile},
           {"vhlo.xor_v1", Op::kHloXor}}) {
    add(name, op);
  }
  for (const auto& [name, op] :
       std::initializer_list<std::pair<absl::string_view, Op>>{
           {"vhlo.cbrt_v2", Op::kHloCbrt},
           {"vhlo.cosine_v2", Op::kHloCosine},
           {"vhlo.exponential_minus_one_v2", Op::kHloExponentialMinusOne},
           {"vhlo.exponential_v2", Op::kHloExponential},
           {"vhlo.log_plus_one_v2", Op::kHloLogPlusOne},
           {"vhlo.log_v2", Op::kHloLog},
           {"vhlo.logistic_v2", Op::kHloLogistic},
           {"vhlo.rsqrt_v2", Op::kHloRsqrt},
           {"vhlo.sine_v2", Op::kHloSine},
           {"vhlo.sqrt_v2", Op::kHloSqrt},
           {"vhlo.tan_v2", Op::kHloTan},
           {"vhlo.tanh_v2", Op::kHloTanh}}) {
    add(name, op, ReadResultAccuracy);
  }
  add("vhlo.all_gather_v1", Op::kHloAllGather, ReadAllGather);
  add("vhlo.all_gather_v2", Op::kHloAllGather, ReadAllGather);
  add("vhlo.all_reduce_v1", Op::kHloAllReduce, ReadAllReduce);
  add("vhlo.all_reduce_v2", Op::kHloAllReduce, ReadAllReduce);
  add("vhlo.all_to_all_v1", Op::kHloAllToAll, ReadAllToAll);
  add("vhlo.all_to_all_v2", Op::kHloAllToAll, ReadAllToAll);
  add("vhlo.batch_norm_grad_v1", Op::kHloBatchNormGrad, ReadBatchNorm);
  add("vhlo.batch_norm_inference_v1", Op::kHloBatchNormInference,
      ReadBatchNorm);
  add("vhlo.batch_norm_training_v1", Op::kHloBatchNormTraining, ReadBatchNorm);
  add("vhlo.broadcast_in_dim_v1", Op::kHloBroadcastInDim, ReadBroadcastInDim);
  add("vhlo.broadcast_v1", Op::kHloBroadcastInDim, ReadBroadcast);
  add("vhlo.cholesky_v1", Op::kHloCholesky, ReadCholesky);
  add("vhlo.collective_broadcast_v1", Op::kHloCollectiveBroadcast,
      ReadCollectiveBroadcast);
  add("vhlo.collective_permute_v1", Op::kHloCollectivePermute,
      ReadCollectivePermute);
  add("vhlo.compare_v1", Op::kHloCompare, ReadCompare);
  add("vhlo.concatenate_v1", Op::kHloConcatenate, ReadConcatenate);
  add("vhlo.convolution_v1", Op::kHloConvolution, ReadConvolution);
  add("vhlo.custom_call_v1", Op::kHloCustomCall, ReadCustomCall);
  add("vhlo.custom_call_v2", Op::kHloCustomCall, ReadCustomCall);
  add("vhlo.dot_general_v1", Op::kHloDotGeneral, ReadDotGeneral);
  add("vhlo.dot_general_v2", Op::kHloDotGeneral, ReadDotGeneral);
  add("vhlo.dot_v1", Op::kHloDotGeneral, ReadDotGeneral);
  add("vhlo.dynamic_slice_v1", Op::kHloDynamicSlice, ReadDynamicSlice);
  add("vhlo.gather_v1", Op::kHloGather, ReadGather);
  add("vhlo.gather_v2", Op::kHloGather, ReadGather);
  add("vhlo.iota_v1", Op::kHloIota, ReadIota);
  add("vhlo.map_v1", Op::kHloMap, ReadDimensions);
  add("vhlo.pad_v1", Op::kHloPad, ReadPad);
  add("vhlo.reduce_precision_v1", Op::kHloReducePrecision, ReadReducePrecision);
  add("vhlo.reduce_scatter_v1", Op::kHloReduceScatter, ReadReduceScatter);
  add("vhlo.reduce_v1", Op::kHloReduce, ReadDimensions);
  add("vhlo.reduce_window_v1", Op::kHloReduceWindow, ReadReduceWindow);
  add("vhlo.reverse_v1", Op::kHloReverse, ReadDimensions);
  add("vhlo.rng_bit_generator_v1", Op::kHloRngBitGenerator, ReadRngBits);
  add("vhlo.rng_v1", Op::kHloRng, ReadRng);
  add("vhlo.scatter_v1", Op::kHloScatter, ReadScatter);
  add("vhlo.scatter_v2", Op::kHloScatter, ReadScatter);
  add("vhlo.select_and_scatter_v1", Op::kHloSelectAndScatter,
      ReadSelectAndScatter);
  add("vhlo.slice_v1", Op::kHloSlice, ReadSlice);
  add("vhlo.sort_v1", Op::kHloSort, ReadSort);
  add("vhlo.transpose_v1", Op::kHloTranspose, ReadTranspose);
  add("vhlo.triangular_solve_v1", Op::kHloTriangularSolve, ReadTriangularSolve);

  for (const absl::string_view name :
       {"builtin.unrealized_conversion_cast", "sdy.propagation_barrier"}) {
    rules[name].conversion = Conversion::kIdentity;
  }
  for (const absl::string_view name :
       {"sdy.sharding_constraint", "sdy.reshard"}) {
    rules[name].conversion = Conversion::kSharding;
  }
  for (const absl::string_view name :
       {"vhlo.create_token_v1", "vhlo.after_all_v1"}) {
    rules[name].conversion = Conversion::kToken;
  }
  for (const absl::string_view name :
       {"vhlo.complex_v1", "vhlo.real_v1", "vhlo.imag_v1", "vhlo.fft_v1"}) {
    rules[name].conversion = Conversion::kComplex;
  }
  rules["sdy.manual_computation"].conversion = Conversion::kManual;
  rules["sdy.return"].conversion = Conversion::kReturn;
  rules["sdy.sharding_group"].conversion = Conversion::kNothing;
  rules["vhlo.constant_v1"].conversion = Conversion::kConstant;
  rules["vhlo.return_v1"].conversion = Conversion::kReturn;
  rules["sdy.mesh"].conversion = Conversion::kNothing;
  rules["vhlo.call_v1"] = {Conversion::kCall, Op::kParameter, nullptr,
                           "callee"};
  for (const absl::string_view name :
       {"vhlo.composite_v1", "vhlo.composite_v2"}) {
    rules[name] = {Conversion::kCall, Op::kParameter, nullptr, "decomposition"};
  }
  return rules;
}

// Custom calls that only place a value on devices.
bool IsPlacement(const mlir::Operation& operation) {
  const mlir::Attribute* target = operation.Find("call_target_name");
  return target && operation.operands.size() == 1 &&
         operation.results.size() == 1 &&
         (target->text == "Sharding" ||
          target->text == "annotate_device_placement" ||
          target->text == "xla.sdy.FuncResultSharding" ||
          target->text == "LayoutConstraint");
}

}  // namespace

const OperationRule* FindRule(const mlir::Operation& operation) {
  static const auto& rules =
      *new std::map<absl::string_view, OperationRule>(MakeRules());
  static const auto& identity =
      *new OperationRule{Conversion::kIdentity, Op::kParameter, nullptr, ""};
  const auto found = rules.find(operation.name);
  if (found == rules.end()) return nullptr;
  if (found->second.op == Op::kHloCustomCall && IsPlacement(operation)) {
    return &identity;
  }
  return &found->second;
}

bool MayHaveNoResult(const mlir::Operation& operation,
                     const OperationRule& rule) {
  if (rule.conversion != Conversion::kOperation) return true;
  if (rule.op == Op::kHloIf || rule.op == Op::kHloCase) return true;
  const mlir::Attribute* target = operation.Find("call_target_name");
  return rule.op == Op::kHloCustomCall && target != nullptr &&
         target->text == ir::kEffectCall;
}

std::string SourceName(absl::string_view operation) {
  constexpr absl::string_view kPrefix = "vhlo.";
  if (operation.substr(0, kPrefix.size()) != kPrefix) {
    return std::string(operation);
  }
  operation.remove_prefix(kPrefix.size());
  while (!operation.empty() && std::isdigit(static_cast<unsigned char>(
                                   operation[operation.size() - 1]))) {
    operation.remove_suffix(1);
  }
  if (operation.size() > 2 && operation.substr(operation.size() - 2) == "_v") {
    operation.remove_suffix(2);
  }
  return absl::StrCat("stablehlo.", operation);
}

}  // namespace systole::import
