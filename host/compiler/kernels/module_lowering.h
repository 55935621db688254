// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What of op set hlo a device does by other operations, before it is planned.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_MODULE_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_MODULE_LOWERING_H_

#include "host/ir/module.h"

namespace systole::lanes {

// Products become operations on matrices (product_lowering.h), cheap branches
// selections (branch_lowering.h), generators of random bits operations on words
// (random_lowering.h), QR decompositions loops (householder_lowering.h), some
// regions operations on tensors (region_lowering.h); what
// combines integers of 16 bits or is addressed by them works on words
// (short_integers.h). Results keep their bits. The module must be verified;
// regions are replaced, not changed.
void LowerModule(ir::Module& module);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_MODULE_LOWERING_H_
