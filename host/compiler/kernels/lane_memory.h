// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Converts elements between memory and lanes (lane_lowering.h describes lanes).
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_MEMORY_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_MEMORY_H_

#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_graph.h"
#include "host/ir/literal.h"

namespace systole::lanes {

// The lane of a loaded element.
Lane FromMemory(LaneGraph& graph, ir::ElementType type, Lane loaded);
// How to store a lane as an element of the type. All NaNs of bf16 and f16
// become one NaN; with `bits` they keep their bits.
LaneStore ToMemory(LaneGraph& graph, ir::ElementType type, Lane lane,
                   bool bits = false);
// A lane with a literal's only value.
Lane OfLiteral(LaneGraph& graph, const ir::Literal& value);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_MEMORY_H_
