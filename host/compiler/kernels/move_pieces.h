// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Moves (broadcast, transpose, slice, reverse, strided, concatenate, pad) as
// copies of boxes of elements.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_MOVE_PIECES_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_MOVE_PIECES_H_

#include <cstdint>
#include <vector>

#include "host/compiler/kernels/copy_code.h"
#include "host/ir/module.h"

namespace systole::lanes {

bool IsMove(const ir::Node& node);

// One box: positions and strides in elements, a dimension for each of the
// result.
struct Piece {
  int operand = 0;
  int64_t from = 0, to = 0;  // of the first element
  std::vector<CopyDimension> dimensions;

  bool empty() const;

  // Takes the part with the indices from `begin` to `end` of a dimension of the
  // result, of which one has `slab` elements; positions count from `begin` on.
  // False: there is none.
  bool Restrict(size_t dimension, int64_t slab, int64_t begin, int64_t end);
};

// The pieces of a move. They cover the result; a later one overwrites an
// earlier one.
std::vector<Piece> PiecesOf(const ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_MOVE_PIECES_H_
