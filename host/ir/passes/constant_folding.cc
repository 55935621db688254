// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// One walk in order is enough: operands are folded before their users.
#include "host/ir/passes/constant_folding.h"

#include <algorithm>
#include <utility>

#include "host/ir/evaluate.h"

namespace systole::ir {
namespace {

// A pad or a broadcast can turn a small constant into a large one.
constexpr int64_t kMaxGrowth = 4;
constexpr int64_t kSmallBytes = 4096;

bool WorthFolding(const Node& node) {
  if (node.is_constant() || node.operands.empty() || !HostComputes(node.op) ||
      !std::all_of(node.operands.begin(), node.operands.end(),
                   [](const Node* n) { return n->is_constant(); })) {
    return false;
  }
  int64_t bytes = 0;
  for (const Node* operand : node.operands) bytes += operand->type.bytes();
  return node.type.bytes() <= std::max(kSmallBytes, kMaxGrowth * bytes);
}

}  // namespace

absl::StatusOr<bool> ConstantFolding::Run(Module& module) {
  bool changed = false;
  for (const auto& node : module.nodes()) {
    if (!WorthFolding(*node)) continue;
    std::vector<const Literal*> operands;
    for (const Node* operand : node->operands) {
      operands.push_back(&operand->literal());
    }
    absl::StatusOr<Literal> result = Evaluate(*node, operands);
    if (!result.ok()) return result.status();
    // The node itself becomes the constant, so its users need no change.
    *node = MakeConstant(node->name, node->type, *std::move(result));
    changed = true;
  }
  if (changed) module.RemoveUnused();
  return changed;
}

}  // namespace systole::ir
