// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_ASSOCIATIVE_REGION_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_ASSOCIATIVE_REGION_H_

#include "host/ir/module.h"

namespace systole::lanes {

// Whether the region of a reduction is known to be associative, to the bit, so
// that neighbours can be combined first. It only compares the kept and the next
// element of each operand and selects between them, as those of the largest
// element's place do. What it does then depends on the order of the elements
// alone, and all orders of three elements are tried.
bool IsAssociative(const ir::Module& region);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_ASSOCIATIVE_REGION_H_
