// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Cuts the rows of a product into blocks, which share a load, and chunks, which
// one descriptor works on, and assigns accumulator rows to tiles. Short pieces
// at the start begin early; short pieces at the end finish early.
#ifndef HOST_COMPILER_ROW_BLOCKS_H_
#define HOST_COMPILER_ROW_BLOCKS_H_

#include <cstdint>
#include <vector>

namespace systole::compiler {

// Cuts `rows` into blocks of at most `most`. The first and the last block have
// `least` rows if there are enough for both; the ones between have about equal
// sizes.
std::vector<int64_t> RowBlocks(int64_t rows, int64_t least, int64_t most);

// Cuts `rows` into chunks that start with `first` and grow to `most`. A chunk
// is at most as long as all chunks before it together; the last one may be up
// to half longer.
std::vector<int64_t> RowChunks(int64_t rows, int64_t first, int64_t most);

// The same chunks, with the last one cut so that it has at most `last` rows.
std::vector<int64_t> EndWith(std::vector<int64_t> chunks, int64_t last);

// The first accumulator row of each tile of `rows` rows, in bank `bank` of the
// two banks of `size` rows. A bank cannot be drained while the array
// accumulates in it; so `spread` puts every other tile, but not the last, at
// the end of the other bank.
std::vector<int64_t> TileRows(int64_t tiles, int64_t rows, int64_t bank,
                              int64_t size, bool spread);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_ROW_BLOCKS_H_
