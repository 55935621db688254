// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/partition/sum_sinking.h"

#include <map>
#include <utility>
#include <vector>

namespace systole::partition {
namespace {

using ir::Node;
using ir::Op;

// Null: an output.
using Users = std::map<const Node*, std::vector<Node*>>;

Users UsersOf(const ir::Module& module) {
  Users users;
  for (const auto& node : module.nodes()) {
    for (const ir::Value& operand : node->operands)
      users[operand.node].push_back(node.get());
  }
  for (const ir::Output& output : module.outputs)
    users[output.node.node].push_back(nullptr);
  return users;
}

}  // namespace

void SinkSums(ir::Module& module, const std::set<std::string>& sums) {
  Users users = UsersOf(module);
  std::vector<Node*> found;
  for (const auto& node : module.nodes()) {
    if (sums.count(node->name) > 0) found.push_back(node.get());
  }
  for (Node* sum : found) {
    while (users[sum].size() == 1) {
      Node* const move = users[sum][0];
      if (move == nullptr ||
          (move->op != Op::kHloTranspose && move->op != Op::kHloReshape))
        break;
      Node before = *move;
      before.name = module.UniqueName(move->name);
      before.operands = sum->operands;
      sum->operands = {module.InsertBefore(sum, std::move(before))};
      sum->type = move->type;
      users[sum] = users[move];
      module.ReplaceUses(move, sum);
      module.RemoveUnused();
    }
  }
}

}  // namespace systole::partition
