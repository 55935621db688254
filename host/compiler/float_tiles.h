// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Cuts the second matrix of a bf16 product into tiles.
#ifndef SYSTOLE_HOST_COMPILER_FLOAT_TILES_H_
#define SYSTOLE_HOST_COMPILER_FLOAT_TILES_H_

#include <cstdint>

#include "systole/float_matmul.h"

namespace systole::compiler {

// The number of column tiles that are stored together, for `n` columns of
// results of `bytes` bytes: their lines are whole beats, and there are at least
// two tiles to compute while A arrives.
int64_t FloatTileGroup(int64_t n, int64_t bytes, const Preset& preset);

}  // namespace systole::compiler

#endif  // SYSTOLE_HOST_COMPILER_FLOAT_TILES_H_
