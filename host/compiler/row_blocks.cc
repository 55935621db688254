// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/row_blocks.h"

#include <algorithm>

#include "host/compiler/geometry.h"

namespace systole::compiler {

std::vector<int64_t> RowBlocks(int64_t rows, int64_t least, int64_t most) {
  least = std::min(least, most);
  if (rows <= most && rows < 2 * least) return {rows};
  // A rest that is too short for its own block joins the first one.
  const int64_t rest = rows - 2 * least;
  const bool join = rest > 0 && rest < least && least + rest <= most;
  std::vector<int64_t> blocks = {least + (join ? rest : 0)};
  const int64_t inner = rows - blocks[0] - least;
  const int64_t count = CeilDiv(std::max<int64_t>(0, inner), most);
  for (int64_t i = 0; i < count; ++i)
    blocks.push_back(inner * (i + 1) / count - inner * i / count);
  blocks.push_back(std::min(least, rows - blocks[0]));
  return blocks;
}

std::vector<int64_t> RowChunks(int64_t rows, int64_t first, int64_t most) {
  std::vector<int64_t> chunks;
  for (int64_t sum = 0; sum < rows; sum += chunks.back()) {
    const int64_t next = std::min(std::max(first, sum), most);
    chunks.push_back(rows - sum <= next + next / 2 ? rows - sum : next);
  }
  return chunks;
}

std::vector<int64_t> EndWith(std::vector<int64_t> chunks, int64_t last) {
  if (chunks.back() > last) {
    chunks.back() -= last;
    chunks.push_back(last);
  }
  return chunks;
}

std::vector<int64_t> TileRows(int64_t tiles, int64_t rows, int64_t bank,
                              int64_t size, bool spread) {
  std::vector<int64_t> begin(tiles);
  for (int64_t t = 0; t < tiles; ++t) {
    const bool other = spread && (tiles - t) % 2 == 0;
    begin[t] = other ? (1 - bank) * size + size - (t / 2 + 1) * rows
                     : bank * size + t * rows;
  }
  return begin;
}

}  // namespace systole::compiler
