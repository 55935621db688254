// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Values of the operations of train/ whose bits do not depend on the size of a
// core (docs/training.md).
#ifndef SYSTOLE_HOST_IR_TRAIN_EVALUATE_H_
#define SYSTOLE_HOST_IR_TRAIN_EVALUATE_H_

#include "absl/status/statusor.h"
#include "host/ir/module.h"

namespace systole::ir {

absl::StatusOr<Literals> EvaluateTrainNorm(const Node& node,
                                           const Operands& operands,
                                           Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateTrainNormInference(const Node& node,
                                                    const Operands& operands,
                                                    Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateTrainNormGradient(const Node& node,
                                                   const Operands& operands,
                                                   Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateTrainBiasGradient(const Node& node,
                                                   const Operands& operands,
                                                   Evaluation& evaluation);
// Of either kind, and their gradients.
absl::StatusOr<Literals> EvaluateTrainPool(const Node& node,
                                           const Operands& operands,
                                           Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateTrainPoolGradient(const Node& node,
                                                   const Operands& operands,
                                                   Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateTrainAdd(const Node& node,
                                          const Operands& operands,
                                          Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateTrainAdamPowers(const Node& node,
                                                 const Operands& operands,
                                                 Evaluation& evaluation);
// Adam and SGD.
absl::StatusOr<Literals> EvaluateTrainUpdate(const Node& node,
                                             const Operands& operands,
                                             Evaluation& evaluation);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_TRAIN_EVALUATE_H_
