// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random bits as operations on words: counters of 64 and 128 bits, and 64-bit
// products, in parts.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_RANDOM_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_RANDOM_LOWERING_H_

#include "host/ir/module.h"

namespace systole::lanes {

// Whether this is an rng_bit_generator, with any algorithm.
bool IsRandomBits(const ir::Node& node);
// Replaces the node in all its uses with a bit-exact equivalent (docs/hlo.md,
// "Random bits"); the node is left without a user.
void LowerRandomBits(ir::Module& module, ir::Node& node);

// Lowers the module's `rng` nodes, which count their calls: all of them, or
// none if one is in a region or has 64 bits.
void LowerRandomNumbers(ir::Module& module);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_RANDOM_LOWERING_H_
