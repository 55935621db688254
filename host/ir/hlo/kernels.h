// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Evaluators of the operations of hlo/. ops.cc assigns them to the operations.
#ifndef SYSTOLE_HOST_IR_HLO_KERNELS_H_
#define SYSTOLE_HOST_IR_HLO_KERNELS_H_

#include "absl/status/statusor.h"
#include "host/ir/evaluate.h"
#include "host/ir/module.h"

namespace systole::ir {

absl::StatusOr<Literals> EvaluateHloBinary(const Node& node,
                                           const Operands& operands,
                                           Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateHloUnary(const Node& node,
                                          const Operands& operands,
                                          Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateReducePrecision(const Node& node,
                                                 const Operands& operands,
                                                 Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateHloCompare(const Node& node,
                                            const Operands& operands,
                                            Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateHloSelect(const Node& node,
                                           const Operands& operands,
                                           Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateClamp(const Node& node,
                                       const Operands& operands,
                                       Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateConvert(const Node& node,
                                         const Operands& operands,
                                         Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateBitcastConvert(const Node& node,
                                                const Operands& operands,
                                                Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateIota(const Node& node,
                                      const Operands& operands,
                                      Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateBroadcastInDim(const Node& node,
                                                const Operands& operands,
                                                Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateHloReshape(const Node& node,
                                            const Operands& operands,
                                            Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateStrided(const Node& node,
                                         const Operands& operands,
                                         Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateMatrixProduct(const Node& node,
                                               const Operands& operands,
                                               Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateTranspose(const Node& node,
                                           const Operands& operands,
                                           Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateSlice(const Node& node,
                                       const Operands& operands,
                                       Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateDynamicSlice(const Node& node,
                                              const Operands& operands,
                                              Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateDynamicUpdateSlice(const Node& node,
                                                    const Operands& operands,
                                                    Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateConcatenate(const Node& node,
                                             const Operands& operands,
                                             Evaluation& evaluation);
absl::StatusOr<Literals> EvaluatePad(const Node& node, const Operands& operands,
                                     Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateReverse(const Node& node,
                                         const Operands& operands,
                                         Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateHloGather(const Node& node,
                                           const Operands& operands,
                                           Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateScatter(const Node& node,
                                         const Operands& operands,
                                         Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateDotGeneral(const Node& node,
                                            const Operands& operands,
                                            Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateHloConvolution(const Node& node,
                                                const Operands& operands,
                                                Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateHloReduce(const Node& node,
                                           const Operands& operands,
                                           Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateReduceWindow(const Node& node,
                                              const Operands& operands,
                                              Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateSelectAndScatter(const Node& node,
                                                  const Operands& operands,
                                                  Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateSort(const Node& node,
                                      const Operands& operands,
                                      Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateMap(const Node& node, const Operands& operands,
                                     Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateWhile(const Node& node,
                                       const Operands& operands,
                                       Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateIf(const Node& node, const Operands& operands,
                                    Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateCase(const Node& node,
                                      const Operands& operands,
                                      Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateSame(const Node& node,
                                      const Operands& operands,
                                      Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateRngBitGenerator(const Node& node,
                                                 const Operands& operands,
                                                 Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateRng(const Node& node, const Operands& operands,
                                     Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateBatchNormTraining(const Node& node,
                                                   const Operands& operands,
                                                   Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateBatchNormInference(const Node& node,
                                                    const Operands& operands,
                                                    Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateBatchNormGrad(const Node& node,
                                               const Operands& operands,
                                               Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateCholesky(const Node& node,
                                          const Operands& operands,
                                          Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateTriangularSolve(const Node& node,
                                                 const Operands& operands,
                                                 Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateCollective(const Node& node,
                                            const Operands& operands,
                                            Evaluation& evaluation);
absl::StatusOr<Literals> EvaluateDeviceId(const Node& node,
                                          const Operands& operands,
                                          Evaluation& evaluation);
// The custom calls of a QR decomposition.
absl::StatusOr<Literals> EvaluateQr(const Node& node, const Operands& operands);
absl::StatusOr<Literals> EvaluateHouseholderProduct(const Node& node,
                                                    const Operands& operands);
absl::StatusOr<Literals> EvaluateCustomCall(const Node& node,
                                            const Operands& operands,
                                            Evaluation& evaluation);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_KERNELS_H_
