// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reductions of columns as reductions of their sections (docs/hlo.md, "Sums and
// other reductions"), so that each section follows what makes its elements:
//
//   sum of [50176, 12] down the columns:
//     [392, 128, 12] -> [392, 12],  [4, 98, 12] -> [4, 12] -> [12]
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_REDUCTION_SECTIONS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_REDUCTION_SECTIONS_H_

#include "host/ir/module.h"

namespace systole::lanes {

// Divides the reductions of a module, and of its regions.
void DivideReductions(ir::Module& module);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_REDUCTION_SECTIONS_H_
