// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/broadcast_split.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/compiler/kernels/region_nodes.h"

namespace systole::lanes {
namespace {

using ir::Ints;
using ir::Node;

// Longer lines are a value each, which costs less than to load them.
constexpr int64_t kShortLine = 32;

// Of each dimension of the result, the operand's that it has, or -1.
Ints SourcesOf(const Node& node) {
  const Ints& from = node.operands[0].type().shape;
  const Ints& to = node.attr<ir::HloDimensionsAttributes>().dimensions;
  Ints sources(node.type.shape.size(), -1);
  for (size_t d = 0; d < to.size(); ++d)
    if (from[d] == node.type.shape[to[d]])
      sources[to[d]] = static_cast<int64_t>(d);
  return sources;
}

// The first of the result's dimensions behind the operand's last one; 0: the
// broadcast is one. most: elements behind it.
size_t InnerOf(const Node& node, int64_t most) {
  if (node.op != ir::Op::kHloBroadcastInDim) return 0;
  const Ints& shape = node.type.shape;
  const Ints sources = SourcesOf(node);
  size_t inner = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1 && sources[d] >= 0) inner = d + 1;
  int64_t before = 1, behind = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (sources[d] < 0) (d < inner ? before : behind) *= shape[d];
  }
  return before > 1 && behind > 1 && behind <= most ? inner : 0;
}

ir::Value Split(ir::Module& module, const Node& node, size_t inner) {
  const Ints& shape = node.type.shape;
  const Ints sources = SourcesOf(node);
  Ints few, of_operand(node.operands[0].type().shape.size()), places;
  std::vector<bool> is_placed(of_operand.size(), false);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (sources[d] < 0 && d < inner) continue;
    if (sources[d] >= 0) {
      of_operand[sources[d]] = static_cast<int64_t>(few.size());
      is_placed[sources[d]] = true;
    }
    few.push_back(shape[d]);
    places.push_back(static_cast<int64_t>(d));
  }
  RegionNodes nodes(module, &node, node.name + ".lines");
  ir::Value value = node.operands[0];
  // Dimensions of one element that become longer.
  Ints kept, to;
  for (size_t d = 0; d < of_operand.size(); ++d) {
    if (!is_placed[d]) continue;
    kept.push_back(value.type().shape[d]);
    to.push_back(of_operand[d]);
  }
  const ir::ElementType element = node.type.element;
  if (kept.size() < of_operand.size())
    value = nodes.Make(ir::Op::kHloReshape, {element, kept, {}}, {value});
  value = nodes.Make(ir::Op::kHloBroadcastInDim, {element, few, {}}, {value},
                     ir::HloDimensionsAttributes{to});
  return nodes.Make(ir::Op::kHloBroadcastInDim, node.type, {value},
                    ir::HloDimensionsAttributes{places});
}

}  // namespace

void SplitBroadcasts(ir::Module& module, const Preset& preset) {
  const int64_t most = std::min<int64_t>(kShortLine, preset.cols / 2);
  std::vector<std::pair<Node*, size_t>> nodes;
  for (const auto& node : module.nodes())
    if (const size_t inner = InnerOf(*node, most); inner > 0)
      nodes.emplace_back(node.get(), inner);
  for (const auto& [node, inner] : nodes)
    module.ReplaceUses(node, Split(module, *node, inner));
  if (!nodes.empty()) module.RemoveUnused();
}

}  // namespace systole::lanes
