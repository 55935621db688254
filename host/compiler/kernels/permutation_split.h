// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Permutations of dimensions as two moves: a transpose of matrices, and one
// that keeps lines whole.
//
//   weights [O, I, 3, 3] -> [3, 3, I, O]:
//     [O, I*9] -> [I*9, O], then lines of O: [I, 9, O] -> [9, I, O]
//
// In one move, neither the source nor the destination would have lines.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_PERMUTATION_SPLIT_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_PERMUTATION_SPLIT_H_

#include <cstdint>
#include <optional>

#include "host/compiler/kernels/product_nodes.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

struct SplitWalk {
  Walk first, second;  // the second, of the result of the first
};

// Of a walk over a tensor of so many elements. Nothing if it does not visit
// each of them once, if it is one of the two moves, or if there are few.
std::optional<SplitWalk> SplitPermutation(const Walk& walk, int64_t elements);

// Divides the transposes and strided moves of a module, and of its regions,
// where two moves are expected to take fewer cycles than one.
void SplitPermutations(ir::Module& module, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_PERMUTATION_SPLIT_H_
