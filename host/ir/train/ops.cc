// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/train/ops.h"

#include "host/ir/module.h"
#include "host/ir/train/rules.h"

namespace systole::ir {
namespace {

template <Infer kInfer, typename Kind = NoAttributes>
OpInfo Define(Op op, const char* name, int operands) {
  return {op,     name, operands, operands, 0, Kind{}, CheckInferred<kInfer>,
          nullptr};
}

}  // namespace

std::vector<OpInfo> TrainOps() {
  using Window = TrainWindowAttributes;
  using Adam = TrainAdamAttributes;
  return {
      Define<InferTrainProduct, Window>(Op::kTrainProduct, "train.product", 2),
      Define<InferTrainClassify>(Op::kTrainClassify, "train.classify", 4),
      Define<InferTrainNorm>(Op::kTrainNorm, "train.norm", 4),
      Define<InferTrainNormInference>(Op::kTrainNormInference,
                                      "train.norm_inference", 4),
      Define<InferTrainPool, Window>(Op::kTrainMaxPool, "train.max_pool", 1),
      Define<InferTrainPool, Window>(Op::kTrainAveragePool,
                                     "train.average_pool", 1),
      Define<InferTrainAdd>(Op::kTrainAdd, "train.add", 2),
      Define<InferTrainNormGradient>(Op::kTrainNormGradient,
                                     "train.norm_gradient", 5),
      Define<InferTrainMaxPoolGradient, Window>(Op::kTrainMaxPoolGradient,
                                                "train.max_pool_gradient", 3),
      Define<InferTrainAveragePoolGradient, Window>(
          Op::kTrainAveragePoolGradient, "train.average_pool_gradient", 1),
      Define<InferTrainBiasGradient>(Op::kTrainBiasGradient,
                                     "train.bias_gradient", 1),
      Define<InferTrainWeightGradient, Window>(Op::kTrainWeightGradient,
                                               "train.weight_gradient", 2),
      Define<InferTrainInputGradient, Window>(Op::kTrainInputGradient,
                                              "train.input_gradient", 2),
      Define<InferTrainSumCores>(Op::kTrainSumCores, "train.sum_cores", 1),
      Define<InferTrainAdamPowers, Adam>(Op::kTrainAdamPowers,
                                         "train.adam_powers", 1),
      Define<InferTrainAdam, Adam>(Op::kTrainAdam, "train.adam", 6),
      Define<InferTrainSgd, TrainSgdAttributes>(Op::kTrainSgd, "train.sgd", 4),
  };
}

}  // namespace systole::ir
