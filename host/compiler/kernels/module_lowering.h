// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Lowers hlo operations that a device performs with other operations, before
// planning.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_MODULE_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_MODULE_LOWERING_H_

#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Products become operations on matrices (product_lowering.h), cheap branches
// become selections (branch_lowering.h), generators of random bits become
// operations on words (random_lowering.h), QR decompositions become loops
// (householder_lowering.h), and some regions become operations on tensors
// (region_lowering.h). Results are bit-exact. The module must be verified;
// regions are replaced, not changed. What is faster may depend on the preset.
void LowerModule(ir::Module& module, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_MODULE_LOWERING_H_
