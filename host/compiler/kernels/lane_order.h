// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The order in which the values of a graph are computed: those of its own
// order, then depth first, the operand that needs more registers first. Values
// are stored as soon as they are computed.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_ORDER_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_ORDER_H_

#include <array>
#include <vector>

#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_graph.h"

namespace systole::lanes {

struct LaneStep {
  enum : int { kCompute = -1, kGuard = -2, kLoad = -3 };
  Lane lane;
  int store;  // or one of the above
};

// Guards and stores follow as soon as their values are there. `mirrored`: of
// operands that need as many registers the other one comes first, and the last
// store before the others; an order that the graph has stays.
std::vector<LaneStep> OrderOf(const LaneGraph& graph,
                              const std::vector<LaneStore>& stores,
                              bool mirrored = false);

inline std::array<Lane, 3> SourcesOf(const LaneNode& node) {
  return {node.a, node.b, node.c};
}

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_ORDER_H_
