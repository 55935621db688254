// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Products of floats as the array takes them: what brings operands into the
// form of matrices, and results into theirs, becomes operations too, so that
// the vector unit does it.
//
//   dot_general, convolution -> convert, transpose, pad, strided,
//                               matrix_product, add, convert, strided
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_LOWERING_H_

#include "host/ir/module.h"

namespace systole::lanes {

// Replaces every dot_general and convolution of f32 and bf16 in the module and
// in its regions; the results are the same to the bit. Products of other types
// stay. The module must be verified, and is so afterwards.
void LowerProducts(ir::Module& module);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_LOWERING_H_
