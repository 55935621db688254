// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Integers of 16 bits where kernels take words only: a lane's upper half cannot
// be stored alone as it is, which kernels that store in place would need.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_SHORT_INTEGERS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_SHORT_INTEGERS_H_

#include "host/ir/module.h"

namespace systole::lanes {

// Whether the node combines such integers by one operation, or takes them as
// indices.
bool TakesShorts(const ir::Node& node);
// Puts conversions before and behind it. Sums and products modulo 2^16, and
// what is larger, are the same in words.
void WidenShorts(ir::Module& module, ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_SHORT_INTEGERS_H_
