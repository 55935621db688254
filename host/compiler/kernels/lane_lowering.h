// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Lowers elementwise hlo operations to graphs of lanes.
//
// A lane holds the bits of an f32, a bf16 or f16 as the equal fp32 number, an
// i32 or u32, a shorter integer extended to 32 bits, or an i1 as a mask, -1 or
// 0.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_LOWERING_H_

#include <vector>

#include "host/compiler/kernels/lane_graph.h"
#include "host/ir/module.h"

namespace systole::lanes {

// Whether Lower supports the operation with its types.
bool CanLower(const ir::Node& node);
// The result of such a node, from lanes of its operands.
Lane Lower(LaneGraph& graph, const ir::Node& node,
           const std::vector<Lane>& operands);
// The operation of a reduction's region on two lanes of a type; -1 if lanes do
// not support it.
Lane Combine(LaneGraph& graph, ir::Op op, ir::ElementType type, Lane a, Lane b);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_LOWERING_H_
