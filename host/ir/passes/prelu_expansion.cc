// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/passes/prelu_expansion.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace systole::ir {
namespace {

// A prelu with a single slope becomes a table instead.
bool HasSlopes(const Node& node) {
  const Value x = node.operands[0], slopes = node.operands[1];
  const Ints &shape = x.type().shape, &of = slopes.type().shape;
  if (!slopes->is_constant() || shape != node.type.shape || shape.empty() ||
      of.empty() || slopes.type().elements() == 1)
    return false;
  return slopes.type().elements() == x.type().elements() ||
         (of.back() == shape.back() &&
          slopes.type().elements() == shape.back());
}

void ExpandSlopes(Module& module, Node* node) {
  const Value x = node->operands[0], slopes = node->operands[1];
  const auto add = [&](const char* part, Op op, Type type,
                       std::vector<Value> operands, Ints clamp) {
    return module.InsertBefore(
        node,
        {module.UniqueName(absl::StrCat(node->name, part)), op, std::move(type),
         std::move(operands), ClampAttributes{std::move(clamp)}});
  };
  const int64_t zero = node->quantization().zero_point;
  Node* const above = add(".above", Op::kRelu, node->type, {x}, {zero, 127});
  Node* const below = add(".below", Op::kRelu, x.type(), {x},
                          {-128, x.type().quantization->zero_point});
  Node* const sloped =
      add(".sloped", Op::kMul, node->type, {below, slopes}, {-128, 127});
  node->op = Op::kAdd;
  node->operands = {above, sloped};
  node->attributes = ClampAttributes{};
}

}  // namespace

absl::StatusOr<bool> PreluExpansion::Run(Module& module) {
  std::vector<Node*> found;
  for (const auto& node : module.nodes()) {
    if (node->op == Op::kPrelu && HasSlopes(*node)) found.push_back(node.get());
  }
  for (Node* node : found) ExpandSlopes(module, node);
  return !found.empty();
}

}  // namespace systole::ir
