// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/passes/maximum_expansion.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace systole::ir {
namespace {

constexpr int64_t kSides = 3;  // height, width, channels of one image

// Whether the device can add the tensors: both have the shape of one image, or
// the second is a vector of channels.
bool Addable(const Type& a, const Type& b) {
  const Ints& shape = a.shape;
  for (int64_t i = 0; i + kSides < a.rank(); ++i) {
    if (shape[i] != 1) return false;
  }
  return b.shape == shape ||
         (!shape.empty() && !b.shape.empty() &&
          b.shape.back() == shape.back() && b.elements() == shape.back());
}

bool Expand(Module& module, Node* node) {
  if (node->type.element != ElementType::kInt8) return false;
  Value a = node->operands[0], b = node->operands[1];
  if (a.type().shape != node->type.shape) std::swap(a, b);
  if (a.type() != node->type || !Addable(a.type(), b.type()) ||
      (b->is_constant() && b.type().elements() == 1))
    return false;  // a single number: a table
  const bool highest = node->op == Op::kMaximum;
  Type above = node->type;
  above.quantization->zero_point = -128;
  Node* difference = module.InsertBefore(
      node, {module.UniqueName(absl::StrCat(node->name, ".above")), Op::kSub,
             std::move(above),
             highest ? std::vector<Value>{b, a} : std::vector<Value>{a, b},
             ClampAttributes{}});
  node->op = highest ? Op::kAdd : Op::kSub;
  node->operands = {a, difference};
  node->attributes = ClampAttributes{};
  return true;
}

}  // namespace

absl::StatusOr<bool> MaximumExpansion::Run(Module& module) {
  std::vector<Node*> found;
  for (const auto& node : module.nodes()) {
    if (node->op == Op::kMaximum || node->op == Op::kMinimum)
      found.push_back(node.get());
  }
  bool changed = false;
  for (Node* node : found) changed = Expand(module, node) || changed;
  return changed;
}

}  // namespace systole::ir
