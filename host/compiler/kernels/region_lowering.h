// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Lowers regions of elementwise operations to the same operations on tensors:
// map, windows without a kernel, reductions of many elements.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_REGION_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_REGION_LOWERING_H_

#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Whether this is one of: `map`; `reduce_window` with several operations,
// several operands, many taps or negative padding; `reduce` with several
// operations and more elements per result than a group has (docs/hlo.md, "Sums
// and other reductions").
bool IsLiftedRegion(const ir::Node& node, const Preset& preset);
// Replaces the node in all its uses with a bit-exact equivalent; the node is
// left without a user.
void LowerLiftedRegion(ir::Module& module, ir::Node& node,
                       const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_REGION_LOWERING_H_
