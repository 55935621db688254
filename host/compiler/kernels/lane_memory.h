// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Elements in memory and in lanes (lane_lowering.h says how these hold them).
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_MEMORY_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_MEMORY_H_

#include "host/compiler/kernels/lane_graph.h"
#include "host/ir/literal.h"

namespace systole::lanes {

// Between a lane and what loads and stores move.
Lane FromMemory(LaneGraph& graph, ir::ElementType type, Lane loaded);
Lane ToMemory(LaneGraph& graph, ir::ElementType type, Lane lane);
// A lane of a literal's only value.
Lane OfLiteral(LaneGraph& graph, const ir::Literal& value);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_MEMORY_H_
