// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/duplicates.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "host/ir/op.h"
#include "host/ir/text.h"

namespace systole::ir {
namespace {

constexpr int64_t kSmallConstant = 256;  // bytes

// What the node computes: its text without its name.
std::string KeyOf(const Node& node) {
  const std::string text = Print(node);
  return text.substr(text.find(" = "));
}

}  // namespace

bool IsRepeatable(const Node& node) {
  switch (node.op) {
    case Op::kParameter:
    case Op::kHloRng:
    case Op::kHloCustomCall:
    case Op::kHloOptimizationBarrier:
      return false;
    case Op::kConstant:
      return node.type.bytes() <= kSmallConstant;
    default:
      break;
  }
  const auto repeatable = [](const auto& region) {
    return std::all_of(
        region->nodes().begin(), region->nodes().end(), [](const auto& inside) {
          return inside->op == Op::kParameter || IsRepeatable(*inside);
        });
  };
  return !IsCollective(node.op) &&
         std::all_of(node.regions.begin(), node.regions.end(), repeatable);
}

int RemoveDuplicates(Module& module) {
  std::unordered_map<std::string, Node*> known;
  std::unordered_map<const Node*, Node*> same;
  const auto replace = [&](Value& value) {
    const auto found = same.find(value.node);
    if (found != same.end()) value.node = found->second;
  };
  for (const auto& node : module.nodes()) {
    for (Value& operand : node->operands) replace(operand);
    if (!IsRepeatable(*node)) continue;
    const auto [first, added] = known.emplace(KeyOf(*node), node.get());
    if (!added) same[node.get()] = first->second;
  }
  for (Output& output : module.outputs) replace(output.node);
  return same.empty() ? 0 : module.RemoveUnused();
}

}  // namespace systole::ir
