// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/transpose_folding.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

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

// Whether the terms come in the same order with the operands exchanged: there
// is one pass.
bool IsSymmetric(const ir::Node& dot) {
  if (dot.attr<ir::HloDotAttributes>().precision != ir::Precision::kDefault)
    return false;
  return std::all_of(
      dot.operands.begin(), dot.operands.end(), [](const ir::Value& operand) {
        return operand.type().element == ir::ElementType::kFloat32 ||
               operand.type().element == ir::ElementType::kBfloat16;
      });
}

// Whether a result with the dimensions of the batch and then `left` and `right`
// free ones gets the right ones first.
bool Exchanges(const Ints& permutation, size_t batch, size_t left,
               size_t right) {
  Ints wanted;
  for (size_t d = 0; d < batch; ++d) wanted.push_back(static_cast<int64_t>(d));
  for (size_t d = 0; d < right; ++d)
    wanted.push_back(static_cast<int64_t>(batch + left + d));
  for (size_t d = 0; d < left; ++d)
    wanted.push_back(static_cast<int64_t>(batch + d));
  return permutation == wanted;
}

// The product of the operands in the other order, in place of a transpose.
bool FoldInto(ir::Module& module, ir::Node& transpose) {
  const ir::Node& dot = *transpose.operands[0].node;
  if (dot.op != ir::Op::kHloDotGeneral || !IsSymmetric(dot)) return false;
  auto a = dot.attr<ir::HloDotAttributes>();
  const size_t batch = a.lhs_batching.size(),
               inner = a.lhs_contracting.size() + batch;
  if (!Exchanges(transpose.attr<ir::TransposeAttributes>().permutation, batch,
                 dot.operands[0].type().shape.size() - inner,
                 dot.operands[1].type().shape.size() - inner))
    return false;
  std::swap(a.lhs_batching, a.rhs_batching);
  std::swap(a.lhs_contracting, a.rhs_contracting);
  ir::Node exchanged = dot;
  exchanged.name = module.UniqueName(dot.name);
  exchanged.attributes = a;
  exchanged.type = transpose.type;
  std::swap(exchanged.operands[0], exchanged.operands[1]);
  module.ReplaceUses(&transpose,
                     module.InsertBefore(&transpose, std::move(exchanged)));
  return true;
}

bool FoldResults(ir::Module& module) {
  std::map<const ir::Node*, int> uses;
  for (const auto& node : module.nodes())
    for (const ir::Value& operand : node->operands) ++uses[operand.node];
  for (const ir::Output& output : module.outputs) ++uses[output.node.node];
  std::vector<ir::Node*> transposes;
  for (const auto& node : module.nodes()) {
    if (node->op == ir::Op::kHloTranspose && uses[node->operands[0].node] == 1)
      transposes.push_back(node.get());
  }
  bool folded = false;
  for (ir::Node* transpose : transposes)
    folded = FoldInto(module, *transpose) || folded;
  return folded;
}

}  // namespace

void FoldTransposes(ir::Module& module) {
  bool folded = FoldResults(module);
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
