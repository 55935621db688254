// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Control flow, calls, and the host's versions of collectives (for one
// replica).
#include "absl/strings/str_cat.h"
#include "host/ir/calls.h"
#include "host/ir/hlo/detections.h"
#include "host/ir/hlo/elementwise.h"

namespace systole::ir {
namespace {

void Append(Literals& values, const Operands& operands, size_t first) {
  for (size_t i = first; i < operands.size(); ++i) {
    values.push_back(*operands[i]);
  }
}

}  // namespace

absl::StatusOr<Literals> EvaluateWhile(const Node& node,
                                       const Operands& operands,
                                       Evaluation& evaluation) {
  const size_t count = node.results();
  Literals state, captured;
  for (size_t i = 0; i < count; ++i) {
    state.push_back(evaluation.Take(operands[i]));
  }
  for (size_t i = count; i < operands.size(); ++i) {
    captured.push_back(*operands[i]);
  }
  while (true) {
    Literals inputs = state;
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    absl::StatusOr<Literals> goes_on =
        evaluation.Run(*node.regions[0], std::move(inputs));
    if (!goes_on.ok()) return goes_on.status();
    if (!(*goes_on)[0].values<Bool>()[0]) return state;
    inputs = std::move(state);
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    absl::StatusOr<Literals> next =
        evaluation.Run(*node.regions[1], std::move(inputs));
    if (!next.ok()) return next.status();
    state = *std::move(next);
  }
}

absl::StatusOr<Literals> EvaluateIf(const Node& node, const Operands& operands,
                                    Evaluation& evaluation) {
  Literals inputs;
  Append(inputs, operands, 1);
  const int branch = operands[0]->values<Bool>()[0] ? 0 : 1;
  return evaluation.Run(*node.regions[branch], std::move(inputs));
}

absl::StatusOr<Literals> EvaluateCase(const Node& node,
                                      const Operands& operands,
                                      Evaluation& evaluation) {
  Literals inputs;
  Append(inputs, operands, 1);
  const int32_t branches = static_cast<int32_t>(node.regions.size());
  int32_t branch = operands[0]->values<int32_t>()[0];
  if (branch < 0 || branch >= branches) branch = branches - 1;
  return evaluation.Run(*node.regions[branch], std::move(inputs));
}

absl::StatusOr<Literals> EvaluateCollective(const Node& node,
                                            const Operands& operands,
                                            Evaluation& evaluation) {
  const auto& a = node.attr<HloCollectiveAttributes>();
  if (a.group_size != 1 || a.replica_groups.size() > 1) {
    return absl::UnimplementedError(
        absl::StrCat("the host computes ", OpName(node.op),
                     " of one replica alone, not in groups of ", a.group_size));
  }
  return EvaluateSame(node, operands, evaluation);
}

absl::StatusOr<Literals> EvaluateDeviceId(const Node&, const Operands&,
                                          Evaluation&) {
  return Only(Literal(std::vector<uint32_t>{0}));
}

absl::StatusOr<Literals> EvaluateCustomCall(const Node& node,
                                            const Operands& operands,
                                            Evaluation& evaluation) {
  const std::string& target = node.attr<HloCustomCallAttributes>().target;
  // Annotations that have no effect on one device.
  if (target == "Sharding" || target == "SPMDFullToShardShape" ||
      target == "SPMDShardToFullShape" ||
      target == "annotate_device_placement") {
    return EvaluateSame(node, operands, evaluation);
  }
  if (target == "Qr" && operands.size() == 1) return EvaluateQr(node, operands);
  if (target == "ProductOfElementaryHouseholderReflectors" &&
      operands.size() == 2)
    return EvaluateHouseholderProduct(node, operands);
  if (target == kDetections) return EvaluateDetections(node, operands);
  if (IsCall(node)) {
    if (evaluation.caller()) return evaluation.caller()(node, operands);
    return absl::UnimplementedError(
        "a call of the script that made the program; only there, by the plugin "
        "of JAX, can it be done");
  }
  return absl::UnimplementedError(
      absl::StrCat("the host does not compute calls of '", target, "'"));
}

}  // namespace systole::ir
