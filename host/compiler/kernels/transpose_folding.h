// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_TRANSPOSE_FOLDING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_TRANSPOSE_FOLDING_H_

#include "host/ir/module.h"

namespace systole::lanes {

// Lets dot_general take the operands of transposes in front of it, with other
// numbers of dimensions, where its result has the same dimensions then.
void FoldTransposes(ir::Module& module);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_TRANSPOSE_FOLDING_H_
