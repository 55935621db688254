// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/pjrt/manual.h"

#include "host/partition/partitioner.h"

namespace systole::pjrt {
namespace {

// The node whose first part it has: complex numbers are divided into parts, and
// joined, by moves.
const ir::Node* BehindMoves(const ir::Node* node) {
  while (node->op == ir::Op::kHloReshape || node->op == ir::Op::kHloSlice ||
         node->op == ir::Op::kHloTranspose ||
         node->op == ir::Op::kHloConcatenate)
    node = node->operands[0];
  return node;
}

}  // namespace

bool IsManual(const import::StableHloProgram& program) {
  const auto marked = [&](const ir::Node* node, const char* target) {
    return program.shardings.marks.count(node) > 0 &&
           node->attr<ir::HloCustomCallAttributes>().target == target;
  };
  for (const ir::Output& output : program.module->outputs) {
    const bool is_complex = output.stored == ir::kComplexStored;
    if (!marked(is_complex ? BehindMoves(output.node) : output.node.node,
                partition::kToWhole))
      return false;
  }
  for (const auto& node : program.module->nodes()) {
    if (!marked(node.get(), partition::kToTiles)) continue;
    const ir::Node* const source = BehindMoves(node->operands[0]);
    const bool is_complex =
        source->op == ir::Op::kParameter &&
        source->attr<ir::ParameterAttributes>().stored == ir::kComplexStored;
    if (!is_complex && node->operands[0]->op != ir::Op::kParameter)
      return false;
  }
  return true;
}

}  // namespace systole::pjrt
