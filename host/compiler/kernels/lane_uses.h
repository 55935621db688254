// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the code of a graph needs: constants, walks over rows.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_USES_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_USES_H_

#include <cstdint>
#include <vector>

#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_graph.h"
#include "host/compiler/kernels/lane_order.h"

namespace systole::lanes {

// Constants other than 0 that the steps need in scalar registers, each once;
// numbers of lanes among them.
std::vector<uint32_t> ConstantsOf(const LaneGraph& graph,
                                  const std::vector<LaneStore>& stores,
                                  const std::vector<LaneStep>& steps);

// Of a power of two.
int Log2(int value);

// Whether a load or store goes along the walk.
bool UsesWalk(const LaneGraph& graph, const LanePlaces& places, int walk);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_USES_H_
