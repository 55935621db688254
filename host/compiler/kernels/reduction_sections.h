// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reductions of columns as reductions of their sections (docs/hlo.md, "Sums and
// other reductions"), so that each section follows what makes its elements:
//
//   sum of [50176, 12] down the columns:
//     [392, 128, 12] -> [392, 12],  [4, 98, 12] -> [4, 12] -> [12]
//   sum of images [N, 1024, 8, 8] over positions and neighbouring features:
//     [N, 64, 16, 64] -> [N, 64, 64],  [N, 64, 8, 8] -> [N, 64, 8] -> [N, 8]
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_REDUCTION_SECTIONS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_REDUCTION_SECTIONS_H_

#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Divides the reductions of a module, and of its regions.
void DivideReductions(ir::Module& module);

// Cuts lines that take much of the unified buffer, or do not fit it, into rows,
// a power of two wide: first the rows are combined, band by band, then the one
// that is left. These are the same pairs in the same order.
//
//   [30000000] -> [7325, 4096] -> [4096] -> []
void CutLongLines(ir::Module& module, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_REDUCTION_SECTIONS_H_
