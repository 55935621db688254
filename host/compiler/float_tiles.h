// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How the second matrix of a bf16 product is cut into tiles.
#ifndef SYSTOLE_HOST_COMPILER_FLOAT_TILES_H_
#define SYSTOLE_HOST_COMPILER_FLOAT_TILES_H_

#include <cstdint>

#include "systole/float_matmul.h"

namespace systole::compiler {

// Column tiles that are stored together: whole beats a line, and two tiles at
// least while A arrives.
// `n` columns of results of `bytes`.
int64_t FloatTileGroup(int64_t n, int64_t bytes, const Preset& preset);

}  // namespace systole::compiler

#endif  // SYSTOLE_HOST_COMPILER_FLOAT_TILES_H_
