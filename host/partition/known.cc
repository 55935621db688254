// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/partition/known.h"

#include <algorithm>

namespace systole::partition {

using ir::ElementType;
using ir::Node;
using ir::Op;
using ir::Type;
using ir::Value;

bool Known::Is(const Node& node) {
  const auto [place, added] = known_.try_emplace(&node, false);
  if (!added) return place->second;
  const bool known =
      node.is_constant() ||
      (node.op != Op::kParameter && node.op != Op::kHloRng &&
       node.op != Op::kHloPartitionId && node.op != Op::kHloReplicaId &&
       node.op != Op::kHloCustomCall && !ir::IsCollective(node.op) &&
       node.regions.empty() &&
       std::all_of(node.operands.begin(), node.operands.end(),
                   [&](const Value& operand) { return Is(*operand.node); }));
  return known_[&node] = known;
}

bool IsWide(const Node& node) {
  const auto wide = [](const Type& type) {
    return type.element == ElementType::kInt64 ||
           type.element == ElementType::kUint64;
  };
  return wide(node.type) ||
         std::any_of(node.operands.begin(), node.operands.end(),
                     [&](const Value& v) { return wide(v.type()); });
}

}  // namespace systole::partition
