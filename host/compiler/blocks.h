// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Cuts the output of a layer into blocks: what the array computes with one set
// of weight tiles and the vector unit drains at once. A block has at most half
// of the accumulator rows.
#ifndef HOST_COMPILER_BLOCKS_H_
#define HOST_COMPILER_BLOCKS_H_

#include <cstdint>
#include <vector>

#include "host/compiler/geometry.h"

namespace systole::compiler {

struct TilingLimits {
  int64_t max_rows = 1;  // output positions a block
  int64_t min_rows = 1;  // pieces cut off for an early start and a short end
                         // have at least so many
  int64_t max_in_bytes = 0;  // input region of a block in the unified buffer; 0
                             // = all of the input is there
  int64_t max_out_bytes =
      0;  // output of a block; 0 = all of the output is there
  int64_t max_operand_bytes = 0;  // of all channels of a block's output that
                                  // come as an operand; 0 = none do
  int64_t in_pitch_slack = 0;  // bytes that a line of a region may be padded by
  int64_t group_bytes = 1;     // bytes of a position that are buffered at once
  int64_t beat = 16;
  bool ends = true;    // split the first and the last block
  bool equal = false;  // all but the last are as large as each other; otherwise
                       // none is much smaller than the others
};

// Blocks in the order images, lines, positions; they cover the output exactly
// once. Blocks that are cut within a line begin at a multiple of the beat.
// Empty when not even one line (or the smallest cut of one) fits.
std::vector<Block> MakeBlocks(const Geometry& g, const TilingLimits& limits);

// Bytes in the unified buffer of a block's input region and of its output.
int64_t RegionBytes(const Geometry& g, const Block& block,
                    const TilingLimits& limits);
int64_t OutputBytes(const Geometry& g, const Block& block,
                    const TilingLimits& limits);
// Bytes of an operand as large as the block's output.
int64_t OperandBytes(const Geometry& g, const Block& block, int64_t beat);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_BLOCKS_H_
