// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/shard_lowering.h"

#include <optional>
#include <utility>
#include <vector>

namespace systole::lanes {
namespace {

using ir::Node;
using ir::Op;
using ir::Value;

bool IsZero(const Value& index) {
  if (!index->is_constant()) return false;
  const ir::Literal& literal = index->literal();
  const uint8_t* const bytes = literal.data();
  return std::all_of(bytes, bytes + ir::ElementBytes(literal.element()),
                     [](uint8_t byte) { return byte == 0; });
}

bool IsPartition(Value value) {
  while (value->op == Op::kHloReshape ||
         (value->op == Op::kHloConvert &&
          value.type().element == ir::ElementType::kInt32))
    value = value->operands[0];
  return value->op == Op::kHloPartitionId;
}

// The entries of a table of which each process takes its own.
std::optional<ir::Ints> TableOf(Value index) {
  while (index->op == Op::kHloReshape) index = index->operands[0];
  if (index->op != Op::kHloDynamicSlice || index.type().elements() != 1)
    return std::nullopt;
  const Value table = index->operands[0];
  if (!table->is_constant() || table.type().rank() != 1 ||
      table.type().element != ir::ElementType::kInt32 ||
      !IsPartition(index->operands[1]))
    return std::nullopt;
  ir::Ints entries;
  for (const int32_t entry : table->literal().values<int32_t>())
    entries.push_back(entry);
  return entries;
}

std::optional<ir::HloShardAttributes> ShardOf(const Node& node,
                                              const Preset& preset) {
  if (node.op != Op::kHloDynamicSlice) return std::nullopt;
  const ir::Type& from = node.operands[0].type();
  std::optional<ir::Ints> starts;
  int64_t inner = 1;  // elements of an entry of the divided dimension
  for (int d = from.rank() - 1; d >= 0; --d) {
    const Value& index = node.operands[1 + d];
    const int64_t size = node.type.shape[d];
    if (!starts && size == from.shape[d]) {
      inner *= size;  // starts at 0 whatever the index is
      continue;
    }
    if (!starts) {
      starts = TableOf(index);
      if (!starts) return std::nullopt;
      for (int64_t& start : *starts)
        start = std::clamp<int64_t>(start, 0, from.shape[d] - size) * inner;
      continue;
    }
    // One piece only if the dimensions before have one entry.
    if (from.shape[d] != 1 && !(size == 1 && IsZero(index)))
      return std::nullopt;
  }
  if (!starts || node.type.elements() == 0) return std::nullopt;
  const int64_t bytes = ir::ElementBytes(from.element);
  for (const int64_t start : *starts)
    if (start * bytes % ValueAlignment(preset) != 0) return std::nullopt;
  return ir::HloShardAttributes{node.type.shape, *std::move(starts)};
}

}  // namespace

void LowerShards(ir::Module& module, const Preset& preset) {
  std::vector<Node*> nodes;
  for (const auto& node : module.nodes()) nodes.push_back(node.get());
  bool changed = false;
  for (Node* node : nodes) {
    std::optional<ir::HloShardAttributes> shard = ShardOf(*node, preset);
    if (!shard) continue;
    Node* const made =
        module.InsertBefore(node, {module.UniqueName(node->name + ".shard"),
                                   Op::kHloShard,
                                   node->type,
                                   {node->operands[0]},
                                   *std::move(shard)});
    made->location = node->location;
    module.ReplaceUses(node, made);
    changed = true;
  }
  if (changed) module.RemoveUnused();
}

}  // namespace systole::lanes
