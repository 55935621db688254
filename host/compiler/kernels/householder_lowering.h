// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The calls that a QR decomposition arrives as, by loops over the columns.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_HOUSEHOLDER_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_HOUSEHOLDER_LOWERING_H_

#include "host/ir/module.h"

namespace systole::lanes {

// A custom call of "Qr" or "ProductOfElementaryHouseholderReflectors" of
// matrices of f32.
bool IsHouseholder(const ir::Node& node);
// Lets the uses of such a node have what it gives (docs/hlo.md, "Batch
// normalisation, factors"), to the bit; it is left without a user.
void LowerHouseholder(ir::Module& module, ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_HOUSEHOLDER_LOWERING_H_
