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

class Order {
 public:
  Order(const LaneGraph& graph, const std::vector<LaneStore>& stores,
        bool mirrored)
      : graph_(graph),
        mirrored_(mirrored),
        needs_(NeedsOf(graph)),
        done_(graph.size()),
        guards_(graph.size()),
        stores_(graph.size()) {
    for (size_t i = 0; i < stores.size(); ++i)
      stores_[stores[i].lane].push_back(static_cast<int>(i));
    for (const LaneGraph::LaneGuard& guard : graph.guards())
      guards_[guard.of].push_back(guard.lane);
  }

  void Store(Lane lane) {
    Compute(lane);
    Stores(lane);
  }
  void First(Lane lane) { Compute(lane); }
  std::vector<LaneStep> Take() { return std::move(steps_); }

 private:
  bool IsOp(Lane lane) const {
    return graph_.node(lane).kind == LaneNode::Kind::kOp;
  }

  void Compute(Lane root) {
    std::vector<std::pair<Lane, bool>> stack;  // true: it has its operands
    stack.emplace_back(root, false);
    while (!stack.empty()) {
      const auto [lane, ready] = stack.back();
      stack.pop_back();
      if (done_[lane] || !IsOp(lane)) continue;
      std::vector<Lane> sources;
      for (const Lane source : SourcesOf(graph_.node(lane))) {
        if (source >= 0) sources.push_back(source);
      }
      if (ready) {
        for (const Lane source : sources) Guards(source);
        if (done_[lane]) continue;  // a guard computed it
        done_[lane] = true;
        steps_.push_back({lane, LaneStep::kCompute});
        if (!stores_[lane].empty()) Stores(lane);
        continue;
      }
      stack.emplace_back(lane, true);
      if (mirrored_) std::reverse(sources.begin(), sources.end());
      // The last one on the stack is computed first.
      std::stable_sort(sources.begin(), sources.end(),
                       [&](Lane x, Lane y) { return needs_[x] < needs_[y]; });
      for (const Lane source : sources) stack.emplace_back(source, false);
    }
  }

  // Those of a value that is there.
  void Stores(Lane lane) {
    Guards(lane);
    for (const int store : std::exchange(stores_[lane], {}))
      steps_.push_back({lane, store});
  }

  // Those of an argument that is there.
  void Guards(Lane lane) {
    for (const Lane guard : std::exchange(guards_[lane], {})) {
      Compute(guard);
      steps_.push_back({guard, LaneStep::kGuard});
    }
  }

  const LaneGraph& graph_;
  const bool mirrored_;
  const std::vector<int> needs_;
  std::vector<bool> done_;
  std::vector<std::vector<Lane>> guards_;  // of each argument
  std::vector<std::vector<int>> stores_;   // of each value
  std::vector<LaneStep> steps_;
};

}  // namespace

std::vector<LaneStep> OrderOf(const LaneGraph& graph,
                              const std::vector<LaneStore>& stores,
                              bool mirrored) {
  Order order(graph, stores, mirrored);
  for (const Lane lane : graph.order()) order.First(lane);
  for (size_t i = 0; i < stores.size(); ++i)
    order.Store(stores[mirrored ? stores.size() - 1 - i : i].lane);
  return order.Take();
}

}  // namespace systole::lanes
