// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/passes/simplification.h"

#include <algorithm>

namespace systole::ir {
namespace {

bool AllZero(const Ints& values) {
  return std::all_of(values.begin(), values.end(),
                     [](int64_t v) { return v == 0; });
}

bool Ascending(const Ints& permutation) {
  return std::is_sorted(permutation.begin(), permutation.end());
}

// Whether the result has the same values as the first operand.
bool ChangesNothing(const Node& node) {
  if (node.operands.empty() || node.type != node.operands[0]->type) {
    return false;
  }
  switch (node.op) {
    case Op::kReshape:
    case Op::kQuantize:
      return true;
    case Op::kTranspose:
      return Ascending(node.attr<TransposeAttributes>().permutation);
    case Op::kPad:
      return AllZero(node.attr<PadAttributes>().low);
    case Op::kStridedSlice: {
      const Ints& stride = node.attr<SliceAttributes>().stride;
      return AllZero(node.attr<SliceAttributes>().begin) &&
             std::all_of(stride.begin(), stride.end(),
                         [](int64_t s) { return s > 0; });
    }
    case Op::kConcatenate:
      return node.operands.size() == 1;
    case Op::kResizeNearest:
    case Op::kResizeBilinear:
      return true;
    case Op::kRelu:
      return node.attr<ClampAttributes>().clamp == Ints{-128, 127};
    default:
      return false;
  }
}

}  // namespace

absl::StatusOr<bool> Simplification::Run(Module& module) {
  bool changed = false;
  for (const auto& node : module.nodes()) {
    // The operand in front of a chain of reshapes.
    while (node->op == Op::kReshape && node->operands[0]->op == Op::kReshape) {
      node->operands[0] = node->operands[0]->operands[0];
      changed = true;
    }
    if (ChangesNothing(*node)) {
      changed = true;
      module.ReplaceUses(node.get(), node->operands[0]);
    }
  }
  if (changed) module.RemoveUnused();
  return changed;
}

}  // namespace systole::ir
