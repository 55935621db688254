// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Values of the operations of train/ (docs/training.md).
#ifndef SYSTOLE_HOST_IR_TRAIN_EVALUATE_H_
#define SYSTOLE_HOST_IR_TRAIN_EVALUATE_H_

#include "absl/status/statusor.h"
#include "host/ir/module.h"

namespace systole::ir::train {

absl::StatusOr<Literals> EvaluateProduct(const Node& node,
                                         const Operands& operands,
                                         Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateWeightGradient(const Node& node,
                                                const Operands& operands,
                                                Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateInputGradient(const Node& node,
                                               const Operands& operands,
                                               Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateClassify(const Node& node,
                                          const Operands& operands,
                                          Evaluation& evaluation);
// Calls EvaluateOptions::other_core.
absl::StatusOr<Literals> EvaluateSumCores(const Node& node,
                                          const Operands& operands,
                                          Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateNorm(const Node& node,
                                      const Operands& operands,
                                      Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateNormInference(const Node& node,
                                               const Operands& operands,
                                               Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateNormGradient(const Node& node,
                                              const Operands& operands,
                                              Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateBiasGradient(const Node& node,
                                              const Operands& operands,
                                              Evaluation& evaluation);
// Pools of either kind, and their gradients.
absl::StatusOr<Literals> EvaluatePool(const Node& node,
                                      const Operands& operands,
                                      Evaluation& evaluation);
absl::StatusOr<Literals> EvaluatePoolGradient(const Node& node,
                                              const Operands& operands,
                                              Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateAdd(const Node& node, const Operands& operands,
                                     Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateAdamPowers(const Node& node,
                                            const Operands& operands,
                                            Evaluation& evaluation);
// Adam and SGD.
absl::StatusOr<Literals> EvaluateUpdate(const Node& node,
                                        const Operands& operands,
                                        Evaluation& evaluation);

}  // namespace systole::ir::train

#endif  // SYSTOLE_HOST_IR_TRAIN_EVALUATE_H_
