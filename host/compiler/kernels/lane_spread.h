// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_SPREAD_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_SPREAD_H_

#include <cstdint>
#include <vector>

#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_graph.h"

namespace systole::lanes {

// Appends code that copies each splat's element to all lanes of its row. `base`
// is the index of the first of `words` in the instruction memory. Returns the
// code's index there; -1 if the graph has no splats.
int AppendSpread(const LaneGraph& graph, const LanePlaces& places, int32_t cols,
                 int base, std::vector<uint64_t>& words);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_SPREAD_H_
