// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Products as the array takes them: what brings operands into the
// form of matrices, and results into theirs, becomes operations too, so that
// the vector unit does it.
//
//   dot_general, convolution -> convert, transpose, pad, strided,
//                               matrix_product, add, convert, strided
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_LOWERING_H_

#include "host/ir/module.h"

namespace systole::lanes {

// dot_general and convolution.
bool IsProduct(const ir::Node& node);
// Lets the uses of such a node have what it gives, to the bit; it is left
// without a user, or as it is (products of truth values and of 64 bits).
void LowerProduct(ir::Module& module, ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_LOWERING_H_
