// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Regions of reductions and sorts, evaluated in each lane.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_REGION_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_REGION_H_

#include <vector>

#include "host/compiler/kernels/lane_graph.h"
#include "host/ir/module.h"

namespace systole::lanes {

// Whether lanes support all operations of the region.
bool FitsLanes(const ir::Module& region);
// The region's results, from lanes of its parameters.
std::vector<Lane> LowerRegion(LaneGraph& graph, const ir::Module& region,
                              const std::vector<Lane>& parameters);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_REGION_H_
