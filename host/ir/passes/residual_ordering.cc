// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/passes/residual_ordering.h"

#include <algorithm>
#include <unordered_map>

namespace systole::ir {
namespace {

using Positions = std::unordered_map<const Node*, int64_t>;

Positions PositionsOf(const Module& module) {
  Positions positions;
  for (const auto& node : module.nodes()) {
    const auto at = static_cast<int64_t>(positions.size());
    positions[node.get()] = at;
  }
  return positions;
}

// Number of products of a convolution; 0 for other operations.
int64_t WorkOf(const Node& node) {
  if (node.op != Op::kConv2D && node.op != Op::kDepthwiseConv2D) return 0;
  const Ints& weights = node.operands[1]->type.shape;
  const int64_t depth = node.op == Op::kConv2D ? weights[3] : 1;
  return node.type.elements() * weights[1] * weights[2] * depth;
}

// Of the addition's two operands, moves the one that is computed last before
// the other one, if the other one is more work and all operands of the moved
// one precede it.
bool Reorder(Module& module, const Node& add) {
  const Positions at = PositionsOf(module);
  Node *first = add.operands[0], *last = add.operands[1];
  if (at.at(first) > at.at(last)) std::swap(first, last);
  if (first == last || WorkOf(*last) == 0 || WorkOf(*last) >= WorkOf(*first))
    return false;
  for (const Node* operand : last->operands) {
    if (!operand->is_constant() && at.at(operand) >= at.at(first)) return false;
  }
  for (const Node* operand : last->operands) {
    if (operand->is_constant() && at.at(operand) > at.at(first))
      module.MoveBefore(first, operand);
  }
  module.MoveBefore(first, last);
  return true;
}

}  // namespace

absl::StatusOr<bool> ResidualOrdering::Run(Module& module) {
  std::vector<const Node*> adds;
  for (const auto& node : module.nodes()) {
    if (node->op == Op::kAdd) adds.push_back(node.get());
  }
  bool changed = false;
  for (const Node* add : adds) changed = Reorder(module, *add) || changed;
  return changed;
}

}  // namespace systole::ir
