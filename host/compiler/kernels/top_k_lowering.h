// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The first few of a sorted line, as lax.top_k asks for them, without sorting
// the others: the largest element, then the largest of those behind it in the
// order, and so on.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_TOP_K_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_TOP_K_LOWERING_H_

#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Whether it is a slice of the first elements of such a sort: of words and
// their places, the largest first, of which no more are used.
bool IsTopK(const ir::Module& module, const ir::Node& sort);

// Replaces the slices.
void LowerTopK(ir::Module& module, ir::Node& sort, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_TOP_K_LOWERING_H_
