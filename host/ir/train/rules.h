// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Rules that infer the result types of train/.
#ifndef SYSTOLE_HOST_IR_TRAIN_RULES_H_
#define SYSTOLE_HOST_IR_TRAIN_RULES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/infer.h"
#include "host/ir/module.h"
#include "host/ir/rules.h"

namespace systole::ir {

Types InferTrainProduct(const Node& node);
Types InferTrainClassify(const Node& node);
Types InferTrainNorm(const Node& node);
Types InferTrainNormInference(const Node& node);
Types InferTrainPool(const Node& node);
Types InferTrainAdd(const Node& node);
Types InferTrainNormGradient(const Node& node);
Types InferTrainMaxPoolGradient(const Node& node);
Types InferTrainAveragePoolGradient(const Node& node);
Types InferTrainBiasGradient(const Node& node);
Types InferTrainWeightGradient(const Node& node);
Types InferTrainInputGradient(const Node& node);
Types InferTrainSumCores(const Node& node);
Types InferTrainAdamPowers(const Node& node);
Types InferTrainAdam(const Node& node);
Types InferTrainSgd(const Node& node);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_TRAIN_RULES_H_
