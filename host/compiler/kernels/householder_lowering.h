// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Lowers the custom calls of a QR decomposition to loops over the columns.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_HOUSEHOLDER_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_HOUSEHOLDER_LOWERING_H_

#include "host/ir/module.h"

namespace systole::lanes {

// Whether this is a custom call of "Qr" or
// "ProductOfElementaryHouseholderReflectors" with f32 matrices.
bool IsHouseholder(const ir::Node& node);
// Replaces the node in all its uses with a bit-exact equivalent (docs/hlo.md,
// "Batch normalisation, factors"); the node is left without a user.
void LowerHouseholder(ir::Module& module, ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_HOUSEHOLDER_LOWERING_H_
