// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operations whose rule or evaluation is not there yet.
#include "absl/strings/str_cat.h"
#include "host/ir/hlo/kernels.h"
#include "host/ir/hlo/rules.h"

namespace systole::ir {
namespace {

absl::Status Unimplemented(const Node& node) {
  return absl::UnimplementedError(
      absl::StrCat("the host does not compute ", OpName(node.op)));
}

}  // namespace

absl::StatusOr<Literals> EvaluateHloBinary(const Node& node, const Operands&,
                                           Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateHloUnary(const Node& node, const Operands&,
                                          Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateReducePrecision(const Node& node,
                                                 const Operands&, Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateHloCompare(const Node& node, const Operands&,
                                            Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateHloSelect(const Node& node, const Operands&,
                                           Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateClamp(const Node& node, const Operands&,
                                       Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateConvert(const Node& node, const Operands&,
                                         Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateBitcastConvert(const Node& node,
                                                const Operands&, Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateIota(const Node& node, const Operands&,
                                      Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateBroadcastInDim(const Node& node,
                                                const Operands&, Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateHloReshape(const Node& node, const Operands&,
                                            Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateTranspose(const Node& node, const Operands&,
                                           Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateSlice(const Node& node, const Operands&,
                                       Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateDynamicSlice(const Node& node, const Operands&,
                                              Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateDynamicUpdateSlice(const Node& node,
                                                    const Operands&,
                                                    Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateConcatenate(const Node& node, const Operands&,
                                             Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluatePad(const Node& node, const Operands&,
                                     Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateReverse(const Node& node, const Operands&,
                                         Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateHloGather(const Node& node, const Operands&,
                                           Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateScatter(const Node& node, const Operands&,
                                         Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateDotGeneral(const Node& node, const Operands&,
                                            Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateHloConvolution(const Node& node,
                                                const Operands&, Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateHloReduce(const Node& node, const Operands&,
                                           Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateReduceWindow(const Node& node, const Operands&,
                                              Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateSelectAndScatter(const Node& node,
                                                  const Operands&,
                                                  Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateSort(const Node& node, const Operands&,
                                      Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateMap(const Node& node, const Operands&,
                                     Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateWhile(const Node& node, const Operands&,
                                       Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateIf(const Node& node, const Operands&,
                                    Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateCase(const Node& node, const Operands&,
                                      Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateSame(const Node& node, const Operands&,
                                      Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateRngBitGenerator(const Node& node,
                                                 const Operands&, Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateRng(const Node& node, const Operands&,
                                     Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateBatchNormTraining(const Node& node,
                                                   const Operands&,
                                                   Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateBatchNormInference(const Node& node,
                                                    const Operands&,
                                                    Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateBatchNormGrad(const Node& node,
                                               const Operands&, Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateCholesky(const Node& node, const Operands&,
                                          Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateTriangularSolve(const Node& node,
                                                 const Operands&, Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateCollective(const Node& node, const Operands&,
                                            Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateDeviceId(const Node& node, const Operands&,
                                          Evaluation&) {
  return Unimplemented(node);
}
absl::StatusOr<Literals> EvaluateCustomCall(const Node& node, const Operands&,
                                            Evaluation&) {
  return Unimplemented(node);
}

}  // namespace systole::ir
