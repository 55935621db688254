// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How the result of a move is divided into parts: some indices of one
// dimension, and one index, or all, of each dimension before it.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_MOVE_CUT_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_MOVE_CUT_H_

#include <cstdint>
#include <vector>

#include "host/compiler/kernels/move_pieces.h"
#include "host/ir/module.h"

namespace systole::lanes {

class MoveCut {
 public:
  // A part of the result: one index of all dimensions before the one that is
  // cut, or all of them, and some of that one.
  struct Range {
    int64_t outer, begin, end;
  };
  static constexpr int64_t kAll = -1;
  static constexpr int64_t kMostRanges = 1 << 12;
  // A piece's copy in a part of the result; the operand's bytes [begin, end),
  // from a whole beat on.
  struct Part {
    Piece piece;
    int64_t begin = 0, end = 0;
  };

  // The type must outlive the object. beat: bytes of what DMA moves.
  MoveCut(const ir::Type& type, size_t dimension, int64_t beat);

  // False: the dimension has one index, parts would not begin at whole beats,
  // or there would be too many.
  bool IsPossible() const;

  size_t dimension() const { return dimension_; }
  int64_t count() const { return count_; }  // indices
  int64_t slab() const { return slab_; }    // elements of an index
  // Indices of the dimensions before it.
  int64_t outer() const { return outer_; }
  // Indices of which whole beats are stored.
  int64_t least() const { return least_; }

  // rows: indices in a part. all: of the dimensions before.
  std::vector<Range> RangesOf(int64_t rows, bool all = false) const;
  // Indices in a part, for so many parts.
  int64_t RowsOf(int64_t parts) const;
  // About half as many, a multiple of `step`.
  static int64_t Below(int64_t rows, int64_t step);
  Part PartOf(Piece piece, const Range& range) const;

 private:
  const ir::Type& type_;
  const ir::Ints strides_;
  const int64_t size_, beat_;  // bytes of an element, of a beat
  size_t dimension_;
  int64_t count_ = 1, slab_ = 1, outer_ = 1, least_ = 1;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_MOVE_CUT_H_
