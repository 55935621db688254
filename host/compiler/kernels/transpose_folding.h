// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_TRANSPOSE_FOLDING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_TRANSPOSE_FOLDING_H_

#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Lets dot_general take the operands of transposes in front of it, with other
// numbers of dimensions, where its result has the same dimensions then. A
// transpose behind it that exchanges the free dimensions of its operands, and
// alone reads it, becomes a dot_general of the operands in the other order, if
// that takes fewer cycles and does not change the order of its terms; unless
// operations compute with the result, which the product's kernel then would
// have to take in its lines.
void FoldTransposes(ir::Module& module, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_TRANSPOSE_FOLDING_H_
