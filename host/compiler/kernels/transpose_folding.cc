// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/transpose_folding.h"

#include <algorithm>

#include "host/ir/hlo/attributes.h"

namespace systole::lanes {
namespace {

using ir::Ints;

// Takes the operand of a transpose in place of an operand whose dimensions have
// these numbers. The free ones must keep their order.
bool Fold(ir::Value& operand, Ints& batching, Ints& contracting) {
  const ir::Node& transpose = *operand.node;
  if (transpose.op != ir::Op::kHloTranspose) return false;
  const Ints& order = transpose.attr<ir::TransposeAttributes>().permutation;
  Ints free;
  for (size_t d = 0; d < order.size(); ++d) {
    const auto has = [d](const Ints& list) {
      return std::count(list.begin(), list.end(), static_cast<int64_t>(d)) > 0;
    };
    if (!has(batching) && !has(contracting)) free.push_back(order[d]);
  }
  if (!std::is_sorted(free.begin(), free.end())) return false;
  for (Ints* list : {&batching, &contracting})
    for (int64_t& d : *list) d = order[d];
  operand = transpose.operands[0];
  return true;
}

}  // namespace

void FoldTransposes(ir::Module& module) {
  bool folded = false;
  for (const auto& node : module.nodes()) {
    if (node->op != ir::Op::kHloDotGeneral) continue;
    auto a = node->attr<ir::HloDotAttributes>();
    bool changed = false;
    while (Fold(node->operands[0], a.lhs_batching, a.lhs_contracting))
      changed = true;
    while (Fold(node->operands[1], a.rhs_batching, a.rhs_contracting))
      changed = true;
    if (changed) node->attributes = a;
    folded = folded || changed;
  }
  if (folded) module.RemoveUnused();
}

}  // namespace systole::lanes
