// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Permutations of dimensions as two moves: a transpose of matrices, and one
// that keeps lines whole or stays within each matrix.
//
//   weights [O, I, 3, 3] -> [3, 3, I, O]:
//     [O, I*9] -> [I*9, O], then lines of O: [I, 9, O] -> [9, I, O]
//   images [N, H, W, C] -> [C, H, W, N]:
//     in each image [H*W, C] -> [C, H*W], then [N, C*H*W] -> [C*H*W, N]
//   few lines [3, N] -> [N, 3]:
//     [3, N/8, 8] -> [8, 3, N/8], then [24, N/8] -> [N/8, 24]
//
// In one move, neither the source nor the destination would have lines, or
// those of the transposer would be short.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_PERMUTATION_SPLIT_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_PERMUTATION_SPLIT_H_

#include <cstdint>
#include <vector>

#include "host/compiler/kernels/product_nodes.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

struct SplitWalk {
  Walk first, second;  // the second, of the result of the first
};

// The ways for a walk over a tensor of so many elements. None if it does not
// visit each of them once, if it is one of the two moves, or if there are few.
std::vector<SplitWalk> SplitPermutation(const Walk& walk, int64_t elements);

// Divides the transposes and strided moves of a module, and of its regions,
// where two moves are expected to take fewer cycles than one, in the way that
// takes the fewest.
void SplitPermutations(ir::Module& module, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_PERMUTATION_SPLIT_H_
