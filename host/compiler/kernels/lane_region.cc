// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_region.h"

#include <algorithm>
#include <map>
#include <utility>

#include "host/compiler/kernels/lane_lowering.h"
#include "host/compiler/kernels/lane_memory.h"
#include "host/compiler/kernels/node_kind.h"

namespace systole::lanes {

bool FitsLanes(const ir::Module& region) {
  const NodeKinds kinds(region);
  return std::all_of(
      region.nodes().begin(), region.nodes().end(), [&](const auto& node) {
        if (node->op == ir::Op::kHloBitcastConvert &&
            !SameLane(node->operands[0].type().element, node->type.element))
          return false;
        return kinds.Of(*node) <= NodeKind::kElementwise &&
               node->op != ir::Op::kHloBroadcastInDim;
      });
}

std::vector<Lane> LowerRegion(LaneGraph& graph, const ir::Module& region,
                              const std::vector<Lane>& parameters) {
  NodeKinds kinds(region);
  std::map<std::pair<const ir::Node*, int>, Lane> lanes;
  const std::vector<ir::Node*> inputs = region.inputs();
  for (size_t i = 0; i < inputs.size(); ++i)
    lanes[{inputs[i], 0}] = parameters[i];
  const auto lane_of = [&](const ir::Value& value) {
    if (const ir::Literal* splat = kinds.Splat(value))
      return OfLiteral(graph, *splat);
    const ir::Value root = kinds.Root(value);
    return lanes.at({root.node, root.index});
  };
  for (const auto& node : region.nodes()) {
    if (kinds.Of(*node) != NodeKind::kElementwise) continue;
    std::vector<Lane> operands;
    for (const ir::Value& operand : node->operands)
      operands.push_back(lane_of(operand));
    lanes[{node.get(), 0}] = Lower(graph, *node, operands);
  }
  std::vector<Lane> results;
  for (const ir::Output& output : region.outputs)
    results.push_back(lane_of(output.node));
  return results;
}

}  // namespace systole::lanes
