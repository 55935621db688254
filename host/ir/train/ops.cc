// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/train/ops.h"

#include "host/ir/module.h"
#include "host/ir/train/evaluate.h"
#include "host/ir/train/rules.h"

namespace systole::ir {
namespace {

using Evaluator = absl::StatusOr<Literals> (*)(const Node& node,
                                               const Operands& operands,
                                               Evaluation& evaluation);

template <Infer kInfer, typename Kind = NoAttributes>
OpInfo Define(Op op, const char* name, int operands, Evaluator evaluate) {
  return {op,      name, operands, operands, 0, Kind{}, CheckInferred<kInfer>,
          evaluate};
}

}  // namespace

std::vector<OpInfo> TrainOps() {
  using Window = TrainWindowAttributes;
  using Product = TrainProductAttributes;
  using Adam = TrainAdamAttributes;
  return {
      Define<InferTrainProduct, Product>(Op::kTrainProduct, "train.product", 2,
                                         train::EvaluateProduct),
      Define<InferTrainClassify, TrainArrayAttributes>(
          Op::kTrainClassify, "train.classify", 4, train::EvaluateClassify),
      Define<InferTrainNorm>(Op::kTrainNorm, "train.norm", 4,
                             train::EvaluateNorm),
      Define<InferTrainNormInference>(Op::kTrainNormInference,
                                      "train.norm_inference", 4,
                                      train::EvaluateNormInference),
      Define<InferTrainPool, Window>(Op::kTrainMaxPool, "train.max_pool", 1,
                                     train::EvaluatePool),
      Define<InferTrainPool, Window>(
          Op::kTrainAveragePool, "train.average_pool", 1, train::EvaluatePool),
      Define<InferTrainAdd>(Op::kTrainAdd, "train.add", 2, train::EvaluateAdd),
      Define<InferTrainNormGradient>(Op::kTrainNormGradient,
                                     "train.norm_gradient", 5,
                                     train::EvaluateNormGradient),
      Define<InferTrainMaxPoolGradient, Window>(Op::kTrainMaxPoolGradient,
                                                "train.max_pool_gradient", 3,
                                                train::EvaluatePoolGradient),
      Define<InferTrainAveragePoolGradient, Window>(
          Op::kTrainAveragePoolGradient, "train.average_pool_gradient", 1,
          train::EvaluatePoolGradient),
      Define<InferTrainBiasGradient>(Op::kTrainBiasGradient,
                                     "train.bias_gradient", 1,
                                     train::EvaluateBiasGradient),
      Define<InferTrainWeightGradient, Product>(Op::kTrainWeightGradient,
                                                "train.weight_gradient", 2,
                                                train::EvaluateWeightGradient),
      Define<InferTrainInputGradient, Product>(Op::kTrainInputGradient,
                                               "train.input_gradient", 2,
                                               train::EvaluateInputGradient),
      Define<InferTrainSumCores>(Op::kTrainSumCores, "train.sum_cores", 1,
                                 train::EvaluateSumCores),
      Define<InferTrainAdamPowers, Adam>(Op::kTrainAdamPowers,
                                         "train.adam_powers", 1,
                                         train::EvaluateAdamPowers),
      Define<InferTrainAdam, Adam>(Op::kTrainAdam, "train.adam", 6,
                                   train::EvaluateUpdate),
      Define<InferTrainSgd, TrainSgdAttributes>(Op::kTrainSgd, "train.sgd", 4,
                                                train::EvaluateUpdate),
  };
}

}  // namespace systole::ir
