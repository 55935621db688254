// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Regions of elementwise operations as these operations on tensors: map,
// windows that no kernel walks over, reductions of many elements.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_REGION_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_REGION_LOWERING_H_

#include "host/ir/module.h"

namespace systole::lanes {

// `map`; `reduce_window` by several operations, of several operands, of many
// taps or with negative padding; `reduce` by several operations of more
// elements a result than a group has (docs/hlo.md, "Sums and other
// reductions").
bool IsLiftedRegion(const ir::Node& node);
// Lets the uses of such a node have what it gives, to the bit; it is left
// without a user.
void LowerLiftedRegion(ir::Module& module, ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_REGION_LOWERING_H_
