// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Cuts the output of a layer into blocks. The array computes a block with one
// set of weight tiles, and the vector unit drains it in one go. A block has at
// most half of the accumulator rows.
#ifndef HOST_COMPILER_BLOCKS_H_
#define HOST_COMPILER_BLOCKS_H_

#include <cstdint>
#include <vector>

#include "host/compiler/geometry.h"

namespace systole::compiler {

struct TilingLimits {
  int64_t max_rows = 1;  // output positions per block
  // Smallest piece that is cut off for an early start or a short end.
  int64_t min_rows = 1;
  // Bytes for the input region of a block; 0 = the whole input is in the
  // unified buffer.
  int64_t max_in_bytes = 0;
  // Bytes for the output of a block; 0 = the whole output is in the unified
  // buffer.
  int64_t max_out_bytes = 0;
  // Bytes for all channels of a block's operand; 0 = there is no operand.
  int64_t max_operand_bytes = 0;
  int64_t in_pitch_slack = 0;  // extra bytes that may pad a line of a region
  // Bytes of a position that are buffered at a time.
  int64_t group_bytes = 1;
  int64_t beat = 16;
  bool ends = true;  // split the first and the last block
  // All blocks but the last have the same size; otherwise none is much smaller
  // than the others.
  bool equal = false;
};

// Blocks in the order of images, lines, positions. They cover the output
// exactly once. A block cut within a line starts at a multiple of the beat.
// Empty if not even one line, or the smallest cut of a line, fits.
std::vector<Block> MakeBlocks(const Geometry& g, const TilingLimits& limits);

// Bytes of a block's input region and of its output in the unified buffer.
int64_t RegionBytes(const Geometry& g, const Block& block,
                    const TilingLimits& limits);
int64_t OutputBytes(const Geometry& g, const Block& block,
                    const TilingLimits& limits);
// Bytes of an operand as large as the block's output.
int64_t OperandBytes(const Geometry& g, const Block& block, int64_t beat);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_BLOCKS_H_
