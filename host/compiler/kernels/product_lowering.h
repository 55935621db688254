// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Lowers products to the form that the array takes. The conversions of operands
// and results to and from matrices become operations too, which run on the
// vector unit.
//
//   dot_general, convolution -> convert, transpose, pad, strided,
//                               matrix_product, add, convert, strided
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_LOWERING_H_

#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Whether this is a dot_general or a convolution.
bool IsProduct(const ir::Node& node);
// Replaces the node in all its uses with a bit-exact equivalent and leaves it
// without a user. Products of truth values and of 64 bits remain unchanged.
void LowerProduct(ir::Module& module, ir::Node& node, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_LOWERING_H_
