// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// 16-bit integers where kernels take only words: the upper half of a lane
// cannot be stored alone without change, which kernels that store in place
// would need.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_SHORT_INTEGERS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_SHORT_INTEGERS_H_

#include "host/ir/module.h"

namespace systole::lanes {

// Whether the node combines 16-bit integers with one operation, or uses them as
// indices.
bool TakesShorts(const ir::Node& node);
// Inserts conversions before and after the node. Results modulo 2^16 are the
// same in words.
void WidenShorts(ir::Module& module, ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_SHORT_INTEGERS_H_
