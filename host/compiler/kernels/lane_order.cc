// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_order.h"

#include <algorithm>
#include <utility>

namespace systole::lanes {
namespace {

// Approximate number of registers needed to compute each value.
std::vector<int> NeedsOf(const LaneGraph& graph) {
  std::vector<int> needs(graph.size());
  for (Lane lane = 0; lane < graph.size(); ++lane) {
    const LaneNode& node = graph.node(lane);
    if (node.kind != LaneNode::Kind::kOp) continue;
    std::vector<int> of;
    for (const Lane source : SourcesOf(node)) {
      if (source >= 0) of.push_back(needs[source]);
    }
    std::sort(of.rbegin(), of.rend());
    needs[lane] = 1;
    for (size_t i = 0; i < of.size(); ++i)
      needs[lane] = std::max(needs[lane], of[i] + static_cast<int>(i));
  }
  return needs;
}

}  // namespace

std::vector<LaneStep> OrderOf(const LaneGraph& graph,
                              const std::vector<LaneStore>& stores) {
  const std::vector<int> needs = NeedsOf(graph);
  std::vector<bool> done(graph.size());
  std::vector<LaneStep> steps;
  std::vector<std::pair<Lane, bool>> stack;  // true: its operands are computed
  for (size_t i = 0; i < stores.size(); ++i) {
    stack.emplace_back(stores[i].lane, false);
    while (!stack.empty()) {
      const auto [lane, ready] = stack.back();
      stack.pop_back();
      const LaneNode& node = graph.node(lane);
      if (done[lane] || node.kind != LaneNode::Kind::kOp) continue;
      if (ready) {
        done[lane] = true;
        steps.push_back({lane, -1});
        continue;
      }
      stack.emplace_back(lane, true);
      std::vector<Lane> sources;
      for (const Lane source : SourcesOf(node)) {
        if (source >= 0) sources.push_back(source);
      }
      // The last one on the stack is computed first.
      std::stable_sort(sources.begin(), sources.end(),
                       [&](Lane x, Lane y) { return needs[x] < needs[y]; });
      for (const Lane source : sources) stack.emplace_back(source, false);
    }
    steps.push_back({stores[i].lane, static_cast<int>(i)});
  }
  return steps;
}

}  // namespace systole::lanes
