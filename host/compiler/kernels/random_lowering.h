// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random bits as operations on words: counters of 64 and 128 bits, and products
// of 64, in parts.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_RANDOM_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_RANDOM_LOWERING_H_

#include "host/ir/module.h"

namespace systole::lanes {

// rng_bit_generator of any algorithm.
bool IsRandomBits(const ir::Node& node);
// Lets the uses of such a node have what it gives (docs/hlo.md, "Random bits"),
// to the bit; it is left without a user.
void LowerRandomBits(ir::Module& module, ir::Node& node);

// The module's `rng`, which count its calls: all, or none if one is in a region
// or of 64 bits.
void LowerRandomNumbers(ir::Module& module);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_RANDOM_LOWERING_H_
