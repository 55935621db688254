// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/blocks.h"

#include <algorithm>
#include <numeric>

namespace systole::compiler {
namespace {

constexpr int64_t kMaxImages = (1 << 10) - 1;  // field n
constexpr int64_t kMaxSide = (1 << 14) - 1;    // fields ny, nx, lines

// The largest v in 1..most for which fits(v) holds and which is a multiple of
// step, or most itself; 0 if there is none. fits is monotone.
template <class Fits>
int64_t Largest(int64_t most, int64_t step, Fits fits) {
  if (fits(most)) return most;
  int64_t low = 0, high = most / step;  // `low` steps fit
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    if (fits(middle * step)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low * step;
}

// Cuts `total` into parts of at most `most` that are as even as multiples of
// step allow. `equal`: all parts but the last are the same.
std::vector<int64_t> Even(int64_t total, int64_t most, int64_t step,
                          bool equal) {
  std::vector<int64_t> parts;
  int64_t left = total;
  for (int64_t count = CeilDiv(total, most); count > 0 && left > 0; --count) {
    const int64_t part =
        equal && !parts.empty()
            ? std::min(left, parts[0])
            : std::min({left, most, RoundUp(CeilDiv(left, count), step)});
    parts.push_back(part);
    left -= part;
  }
  while (left > 0) {
    parts.push_back(std::min(left, most));
    left -= parts.back();
  }
  return parts;
}

// Cuts a piece of at least `rows` rows from the front (or the back) of a block,
// if both parts have at least that many.
bool Split(const Geometry& g, size_t at, int64_t rows, bool front,
           std::vector<Block>& blocks) {
  Block piece = blocks[at], rest = blocks[at];
  if (piece.ni > 1) {
    const int64_t images = CeilDiv(rows, g.oh * g.ow);
    if (2 * images > piece.ni) return false;
    piece.ni = images;
    rest.ni -= images;
    (front ? rest : piece).i0 += front ? images : rest.ni;
  } else {
    const int64_t lines = CeilDiv(rows, piece.nx);
    if (2 * lines > piece.ny) return false;
    piece.ny = lines;
    rest.ny -= lines;
    (front ? rest : piece).y0 += front ? lines : rest.ny;
  }
  blocks[at] = front ? piece : rest;
  blocks.insert(blocks.begin() + static_cast<int64_t>(at) + 1,
                front ? rest : piece);
  return true;
}

// Cuts the first block into a small one and growing ones: the array starts
// early, and each block is loaded while the ones before it are computed. Cuts a
// small piece off the last block, so that little is left to drain and store at
// the end.
void SplitEnds(const Geometry& g, const TilingLimits& limits,
               std::vector<Block>& blocks) {
  size_t at = 0;
  for (int64_t rows = limits.min_rows; rows < limits.max_rows;) {
    if (!Split(g, at, rows, true, blocks)) break;
    // Whole images: cut it further.
    if (blocks[at].rows() >= 2 * rows) continue;
    ++at;
    rows *= 2;
  }
  while (Split(g, blocks.size() - 1, limits.min_rows, false, blocks)) {
  }
}

}  // namespace

int64_t RegionBytes(const Geometry& g, const Block& block,
                    const TilingLimits& limits) {
  const Region r = InputRegion(g, block, limits.beat);
  // A slot has room for the largest region: the number of lines ignores the
  // clipping at the image's edge.
  const int64_t lines =
      std::min(g.h, (block.ny - 1) * g.sh + (g.kh - 1) * g.dh + 1);
  int64_t bytes = r.nb;
  if (block.nx != g.ow)
    bytes = std::min(
        g.line_bytes(),
        ((block.nx - 1) * g.sw + (g.kw - 1) * g.dw + 1) * g.c + limits.beat);
  return block.ni * lines *
         (RoundUp(bytes, limits.beat) + limits.in_pitch_slack);
}

int64_t OutputBytes(const Geometry& g, const Block& block,
                    const TilingLimits& limits) {
  (void)g;
  return block.ni * block.ny *
         RoundUp(block.nx * limits.group_bytes, limits.beat);
}

int64_t OperandBytes(const Geometry& g, const Block& block, int64_t beat) {
  // A part of a line starts at the beat boundary before it.
  const int64_t bytes = block.nx * g.oc + (block.nx == g.ow ? 0 : beat);
  return block.ni * block.ny * RoundUp(bytes, beat);
}

std::vector<Block> MakeBlocks(const Geometry& g, const TilingLimits& limits) {
  const auto fits = [&](int64_t ni, int64_t ny, int64_t nx) {
    const Block b = {0, ni, 0, ny, 0, nx};
    return b.rows() <= limits.max_rows && ni <= kMaxImages && ny <= kMaxSide &&
           nx <= kMaxSide &&
           (limits.max_in_bytes == 0 ||
            RegionBytes(g, b, limits) <= limits.max_in_bytes) &&
           (limits.max_out_bytes == 0 ||
            OutputBytes(g, b, limits) <= limits.max_out_bytes) &&
           (limits.max_operand_bytes == 0 ||
            OperandBytes(g, b, limits.beat) <= limits.max_operand_bytes);
  };
  std::vector<Block> blocks;
  if (fits(1, g.oh, g.ow)) {
    const int64_t images =
        Largest(g.n, 1, [&](int64_t v) { return fits(v, g.oh, g.ow); });
    int64_t i0 = 0;
    for (const int64_t ni : Even(g.n, images, 1, limits.equal)) {
      blocks.push_back({i0, ni, 0, g.oh, 0, g.ow});
      i0 += ni;
    }
  } else {
    int64_t lines = 1, positions = g.ow;
    const int64_t position_bytes = g.oc * g.element_bytes;
    int64_t step = limits.beat / std::gcd(limits.beat, position_bytes);
    // With this step every part starts at the same byte of its first beat.
    const int64_t same = std::lcm(
        step, limits.beat / std::gcd(limits.beat, g.sw * g.position_bytes()));
    if (limits.equal && same < g.ow && fits(1, 1, same)) step = same;
    if (fits(1, 1, g.ow)) {
      lines = Largest(g.oh, 1, [&](int64_t v) { return fits(1, v, g.ow); });
    } else {
      positions = Largest(g.ow, step, [&](int64_t v) { return fits(1, 1, v); });
      if (positions == 0) return {};
    }
    for (int64_t i = 0; i < g.n; ++i) {
      int64_t y0 = 0;
      for (const int64_t ny : Even(g.oh, lines, 1, limits.equal)) {
        int64_t x0 = 0;
        for (const int64_t nx : Even(
                 g.ow, positions, positions == g.ow ? 1 : step, limits.equal)) {
          blocks.push_back({i, 1, y0, ny, x0, nx});
          x0 += nx;
        }
        y0 += ny;
      }
    }
  }
  if (limits.ends) SplitEnds(g, limits, blocks);
  return blocks;
}

}  // namespace systole::compiler
