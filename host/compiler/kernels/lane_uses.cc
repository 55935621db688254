// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_uses.h"

#include <algorithm>

namespace systole::lanes {

std::vector<uint32_t> ConstantsOf(const LaneGraph& graph,
                                  const std::vector<LaneStore>& stores,
                                  const std::vector<LaneStep>& steps) {
  std::vector<uint32_t> bits;
  const auto add_bits = [&](uint32_t value) {
    if (value != 0 && std::find(bits.begin(), bits.end(), value) == bits.end())
      bits.push_back(value);
  };
  const auto add = [&](Lane lane) {
    const LaneNode& node = graph.node(lane);
    if (node.kind == LaneNode::Kind::kConstant) add_bits(node.bits);
    if (node.kind == LaneNode::Kind::kLoad &&
        node.load.pattern == Pattern::kRow)
      add_bits(1);
  };
  for (const LaneStore& store : stores) {
    if (store.first_lane) add_bits(1);
  }
  for (const LaneStep& step : steps) {
    if (step.store != LaneStep::kCompute) {
      add(step.lane);
      continue;
    }
    for (const Lane source : SourcesOf(graph.node(step.lane))) {
      if (source >= 0) add(source);
    }
  }
  return bits;
}

int Log2(int value) {
  int log = 0;
  while (1 << log < value) ++log;
  return log;
}

bool UsesWalk(const LaneGraph& graph, const LanePlaces& places, int walk) {
  const auto on = [&](const LanePlaces::Stream& stream) {
    return stream.walk == walk;
  };
  for (Lane lane = 0; lane < graph.size(); ++lane) {
    const LaneNode& node = graph.node(lane);
    if (node.kind == LaneNode::Kind::kLoad &&
        node.load.pattern != Pattern::kSplat &&
        on(places.operands[node.load.operand].stream))
      return true;
  }
  return std::any_of(places.stores.begin(), places.stores.end(), on);
}

}  // namespace systole::lanes
