// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Branches whose computation costs less than asking the host which one to take:
// all branches are computed, and the result is selected.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_BRANCH_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_BRANCH_LOWERING_H_

#include "host/ir/module.h"

namespace systole::lanes {

// Whether this is an `if` or `case` whose branches are a few elementwise
// operations.
bool IsCheapBranch(const ir::Node& node);
// Replaces the node in all its uses with a bit-exact equivalent; the node is
// left without a user.
void LowerBranch(ir::Module& module, ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_BRANCH_LOWERING_H_
