// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Elements in memory and in lanes (lane_lowering.h says how these hold them).
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_MEMORY_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_MEMORY_H_

#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_graph.h"
#include "host/ir/literal.h"

namespace systole::lanes {

// The lane of an element that is loaded.
Lane FromMemory(LaneGraph& graph, ir::ElementType type, Lane loaded);
// How a lane is stored as an element of the type. NaNs of bf16 and f16 become
// the one; `bits`: keep theirs.
LaneStore ToMemory(LaneGraph& graph, ir::ElementType type, Lane lane,
                   const Preset& preset, bool bits = false);
// Whether such a store, without `bits`, writes these elements alone.
bool StoresAlone(ir::ElementType type);
// A lane of a literal's only value.
Lane OfLiteral(LaneGraph& graph, const ir::Literal& value);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_MEMORY_H_
