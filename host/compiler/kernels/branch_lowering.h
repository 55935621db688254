// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Branches that cost less than the question which one it is: all are computed,
// and selected from.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_BRANCH_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_BRANCH_LOWERING_H_

#include "host/ir/module.h"

namespace systole::lanes {

// `if` and `case` whose branches are a few elementwise operations.
bool IsCheapBranch(const ir::Node& node);
// Lets the uses of such a node have what it gives, to the bit; it is left
// without a user.
void LowerBranch(ir::Module& module, ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_BRANCH_LOWERING_H_
