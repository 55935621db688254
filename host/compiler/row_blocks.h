// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// How the rows of a product are cut: blocks that share a load, chunks that one
// descriptor works on, and where their sums lie. What is short at the start
// begins early, what is short at the end ends early.
#ifndef HOST_COMPILER_ROW_BLOCKS_H_
#define HOST_COMPILER_ROW_BLOCKS_H_

#include <cstdint>
#include <vector>

namespace systole::compiler {

// `rows` in blocks of at most `most`; the first and the last have `least` where
// there are enough rows for both, the ones between about the same each.
std::vector<int64_t> RowBlocks(int64_t rows, int64_t least, int64_t most);

// `rows` in chunks that begin with `first` and grow to `most`, each at most as
// long as those before it together; the last one is up to half longer.
std::vector<int64_t> RowChunks(int64_t rows, int64_t first, int64_t most);

// The same rows, the last chunk cut so that it has at most `last`.
std::vector<int64_t> EndWith(std::vector<int64_t> chunks, int64_t last);

// Accumulator rows at which tiles of `rows` begin, in `bank` of two, each of
// `size`. A bank is not drained while sums go on in it; so `spread` puts every
// other tile, but not the last, at the end of the other bank.
std::vector<int64_t> TileRows(int64_t tiles, int64_t rows, int64_t bank,
                              int64_t size, bool spread);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_ROW_BLOCKS_H_
