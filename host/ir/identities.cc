// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/identities.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <vector>

#include "host/ir/hlo/fold.h"
#include "host/ir/op.h"

namespace systole::ir {
namespace {

bool IsZero(const Ints& values) {
  return std::all_of(values.begin(), values.end(),
                     [](int64_t v) { return v == 0; });
}

bool IsInOrder(const Ints& dimensions) {
  return std::is_sorted(dimensions.begin(), dimensions.end());
}

// Whether the node's only result is its first operand.
bool IsIdentity(const Node& node) {
  if (node.operands.empty() || node.results() != 1) return false;
  const Type& from = node.operands[0].type();
  if (from.element != node.type.element || from.shape != node.type.shape)
    return false;
  switch (node.op) {
    case Op::kHloPad: {
      // A pad in front may be a cut behind.
      const auto& a = node.attr<HloPadAttributes>();
      return IsZero(a.low) && IsZero(a.high) && IsZero(a.interior);
    }
    case Op::kHloTranspose:
      return IsInOrder(node.attr<TransposeAttributes>().permutation);
    case Op::kHloBroadcastInDim:
      return IsInOrder(node.attr<HloDimensionsAttributes>().dimensions);
    case Op::kHloReverse:
      return node.attr<HloDimensionsAttributes>().dimensions.empty();
    case Op::kHloConcatenate:
      return node.operands.size() == 1;
    // Of the same shape they begin at 0 and leave nothing out.
    case Op::kHloSlice:
    case Op::kHloReshape:
    case Op::kHloConvert:
      return true;
    default:
      return false;
  }
}

// The constant that the value repeats, or null.
const Literal* Repeated(const Value& value) {
  const Node* node = value.node;
  while (node->op == Op::kHloBroadcastInDim || node->op == Op::kHloReshape)
    node = node->operands[0].node;
  return node->is_constant() ? &node->literal() : nullptr;
}

// The operand that the larger of it and -infinity is, or null: the largest
// element of a line, whose NaNs are what a maximum makes of them. A line
// without elements has the initial value as it is.
const Value* LargestAlready(const Node& node) {
  if (node.op != Op::kHloMaximum || node.type.element != ElementType::kFloat32)
    return nullptr;
  for (int i = 0; i < 2; ++i) {
    const Value& value = node.operands[i];
    const Literal* const other = Repeated(node.operands[1 - i]);
    if (other == nullptr || value.node->op != Op::kHloReduce ||
        value.node->results() != 1 ||
        value.node->operands[0].type().elements() == 0 ||
        CombinerOf(*value.node->regions[0]) != Op::kHloMaximum)
      continue;
    const std::vector<float>& values = other->values<float>();
    if (std::all_of(values.begin(), values.end(), [](float v) {
          return v == -std::numeric_limits<float>::infinity();
        }))
      return &value;
  }
  return nullptr;
}

}  // namespace

int RemoveIdentities(Module& module) {
  std::unordered_map<const Node*, Value> same;
  const auto replace = [&](Value& value) {
    const auto found = same.find(value.node);
    if (found != same.end()) value = found->second;
  };
  for (const auto& node : module.nodes()) {
    for (Value& operand : node->operands) replace(operand);
    if (IsIdentity(*node)) same.emplace(node.get(), node->operands[0]);
    if (const Value* const value = LargestAlready(*node); value != nullptr)
      same.emplace(node.get(), *value);
  }
  for (Output& output : module.outputs) replace(output.node);
  return same.empty() ? 0 : module.RemoveUnused();
}

}  // namespace systole::ir
