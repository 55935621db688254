// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/transpose_folding.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/compiler/kernels/device_plan.h"
#include "host/compiler/kernels/module_lowering.h"
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

// Expected cycles of an operation alone.
int64_t CyclesAlone(const ir::Node& node, const Preset& preset) {
  ir::Module module("alone");
  ir::Node copy = node;
  copy.operands.clear();
  for (const ir::Value& operand : node.operands) {
    const std::string name = module.UniqueName("operand");
    copy.operands.push_back(module.Add({name,
                                        ir::Op::kParameter,
                                        operand.type(),
                                        {},
                                        ir::ParameterAttributes{name}}));
  }
  module.outputs.push_back({"", module.Add(std::move(copy))});
  LowerModule(module, preset);
  int64_t cycles = 0;
  for (const PlanStep& step : PlanFor(module, preset).steps) {
    if (!step.kernel) return std::numeric_limits<int64_t>::max() / 4;
    cycles += step.kernel->expected_cycles;
  }
  return cycles;
}

// The product of the operands in the other order, in place of a transpose.
bool FoldInto(ir::Module& module, ir::Node& transpose, const Preset& preset) {
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
  if (CyclesAlone(exchanged, preset) >=
      CyclesAlone(dot, preset) + CyclesAlone(transpose, preset))
    return false;
  module.ReplaceUses(&transpose,
                     module.InsertBefore(&transpose, std::move(exchanged)));
  return true;
}

// By node; null: an output.
using Users = std::map<const ir::Node*, std::vector<const ir::Node*>>;

// Whether the value leaves the core as it is.
bool Leaves(const ir::Node& node, const Users& users) {
  const std::vector<const ir::Node*>& readers = users.at(&node);
  return std::all_of(
      readers.begin(), readers.end(), [&](const ir::Node* reader) {
        return reader == nullptr || ir::IsCollective(reader->op) ||
               (reader->op == ir::Op::kHloReshape && Leaves(*reader, users));
      });
}

bool FoldResults(ir::Module& module, const Preset& preset) {
  Users users;
  for (const auto& node : module.nodes()) {
    users[node.get()];
    for (const ir::Value& operand : node->operands)
      users[operand.node].push_back(node.get());
  }
  for (const ir::Output& output : module.outputs)
    users[output.node.node].push_back(nullptr);
  std::vector<ir::Node*> transposes;
  for (const auto& node : module.nodes()) {
    if (node->op == ir::Op::kHloTranspose &&
        users[node->operands[0].node].size() == 1 && Leaves(*node, users))
      transposes.push_back(node.get());
  }
  bool folded = false;
  for (ir::Node* transpose : transposes)
    folded = FoldInto(module, *transpose, preset) || folded;
  return folded;
}

}  // namespace

void FoldTransposes(ir::Module& module, const Preset& preset) {
  bool folded = FoldResults(module, preset);
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
