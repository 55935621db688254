// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/train/ops.h"

#include "host/ir/module.h"
#include "host/ir/train/evaluate.h"
#include "host/ir/train/rules.h"

namespace systole::ir {
namespace {

using Evaluate = absl::StatusOr<Literals> (*)(const Node& node,
                                              const Operands& operands,
                                              Evaluation& evaluation);

// Without an evaluation: what depends on the size of a core, or on two.
template <Infer kInfer, typename Kind = NoAttributes>
OpInfo Define(Op op, const char* name, int operands,
              Evaluate evaluate = nullptr) {
  return {op,      name, operands, operands, 0, Kind{}, CheckInferred<kInfer>,
          evaluate};
}

}  // namespace

std::vector<OpInfo> TrainOps() {
  using Window = TrainWindowAttributes;
  using Adam = TrainAdamAttributes;
  return {
      Define<InferTrainProduct, Window>(Op::kTrainProduct, "train.product", 2),
      Define<InferTrainClassify>(Op::kTrainClassify, "train.classify", 4),
      Define<InferTrainNorm>(Op::kTrainNorm, "train.norm", 4,
                             EvaluateTrainNorm),
      Define<InferTrainNormInference>(Op::kTrainNormInference,
                                      "train.norm_inference", 4,
                                      EvaluateTrainNormInference),
      Define<InferTrainPool, Window>(Op::kTrainMaxPool, "train.max_pool", 1,
                                     EvaluateTrainPool),
      Define<InferTrainPool, Window>(
          Op::kTrainAveragePool, "train.average_pool", 1, EvaluateTrainPool),
      Define<InferTrainAdd>(Op::kTrainAdd, "train.add", 2, EvaluateTrainAdd),
      Define<InferTrainNormGradient>(Op::kTrainNormGradient,
                                     "train.norm_gradient", 5,
                                     EvaluateTrainNormGradient),
      Define<InferTrainMaxPoolGradient, Window>(Op::kTrainMaxPoolGradient,
                                                "train.max_pool_gradient", 3,
                                                EvaluateTrainPoolGradient),
      Define<InferTrainAveragePoolGradient, Window>(
          Op::kTrainAveragePoolGradient, "train.average_pool_gradient", 1,
          EvaluateTrainPoolGradient),
      Define<InferTrainBiasGradient>(Op::kTrainBiasGradient,
                                     "train.bias_gradient", 1,
                                     EvaluateTrainBiasGradient),
      Define<InferTrainWeightGradient, Window>(Op::kTrainWeightGradient,
                                               "train.weight_gradient", 2),
      Define<InferTrainInputGradient, Window>(Op::kTrainInputGradient,
                                              "train.input_gradient", 2),
      Define<InferTrainSumCores>(Op::kTrainSumCores, "train.sum_cores", 1),
      Define<InferTrainAdamPowers, Adam>(Op::kTrainAdamPowers,
                                         "train.adam_powers", 1,
                                         EvaluateTrainAdamPowers),
      Define<InferTrainAdam, Adam>(Op::kTrainAdam, "train.adam", 6,
                                   EvaluateTrainUpdate),
      Define<InferTrainSgd, TrainSgdAttributes>(Op::kTrainSgd, "train.sgd", 4,
                                                EvaluateTrainUpdate),
  };
}

}  // namespace systole::ir
