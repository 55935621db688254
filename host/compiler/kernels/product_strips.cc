// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Strips of the right matrix of a product in the unified buffer, and the tiles
// of weights that are pushed from them.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "host/compiler/bank_conflicts.h"
#include "host/compiler/cost_model.h"
#include "host/compiler/geometry.h"
#include "host/compiler/kernels/product_blocks.h"

namespace systole::lanes {

using compiler::CeilDiv;
using compiler::RoundUp;

// The distance of rows of so many bytes in the unified buffer: the rows of a
// tile that the weight loader reads in a cycle lie in different banks, if the
// DMA can leave room between rows.
int64_t ProductBlocks::PitchOf(int64_t bytes) const {
  if (bytes % unit_ != 0) return bytes;
  const int64_t row = 2 * preset_.cols;
  for (int64_t more = 0; more < preset_.ub_banks; ++more) {
    const int64_t pitch = bytes + more * unit_;
    std::vector<compiler::WindowRead> reads;
    for (int64_t i = 0; i < preset_.beat_bytes() / row; ++i)
      reads.push_back({i * pitch, row});
    if (compiler::WindowCycles(reads, preset_) == 1) return pitch;
  }
  return bytes;
}

// Parts of rows that begin anywhere in a beat keep their place in it.
int64_t ProductBlocks::StripPitch() const {
  const int64_t behind = 2 * right_width_ % unit_;
  if (transposed_ || n_ == all_columns_ || behind == 0)
    return PitchOf(2 * (transposed_ ? k_ : n_));
  return RoundUp(2 * n_ + unit_, unit_) + behind;
}

int64_t ProductBlocks::StripBytes() const {
  if (panel_ < n_tiles_) return builder_.Align(preset_.rows * pitch_);
  return Room(pitch_ *
              std::min(transposed_ ? preset_.cols : preset_.rows, right_rows_));
}

void ProductBlocks::BeginBand(int64_t first) {
  first_column_ = first;
  n_ = std::min(band_columns_, all_columns_ - first);
  n_tiles_ = CeilDiv(n_, preset_.cols);
  if (panel_ > n_tiles_) panel_ = n_tiles_;
  held_.assign(slots_, {-1, -1});
}

// Returns the address of rows of a right matrix.
int64_t ProductBlocks::Strip(int64_t batch, int64_t strip, int64_t row,
                             int64_t rows, int64_t panel) {
  const std::pair<int64_t, int64_t> wanted(batch, strip * n_tiles_ + panel);
  const auto found = std::find(held_.begin(), held_.end(), wanted);
  // The first column of the strip, in the band and in the matrix.
  const int64_t of_band = panel * panel_ * preset_.cols;
  const int64_t from = transposed_ ? 0 : first_column_ + of_band;
  const int64_t first_row = transposed_ ? first_column_ + row : row;
  const int64_t offset =
      2 * (right_width_ * (batch * right_rows_ + first_row) + from);
  if (found != held_.end())
    return strips_at_ + (found - held_.begin()) * strip_bytes_ + offset % unit_;
  const int64_t slot = next_slot_;
  next_slot_ = (next_slot_ + 1) % slots_;
  held_[slot] = wanted;
  int64_t at = strips_at_ + slot * strip_bytes_;
  const int64_t whole = 2 * right_width_;
  const int64_t width =
      2 * (transposed_ ? k_
           : panel_ == n_tiles_
               ? n_
               : std::min(n_ - of_band, panel_ * preset_.cols));
  if (width == whole && pitch_ == whole)
    return Load(right_, offset, whole * rows, at);
  if (whole % unit_ == 0) {
    builder_.LoadRuns(right_, offset, at, width, {{rows, whole, pitch_}});
    return at;
  }
  // Rows that begin at the same place in a beat.
  const int64_t turn = unit_ / std::gcd(whole, unit_);
  for (int64_t first = 0; first < std::min(turn, rows); ++first) {
    const int64_t of_row = offset + first * whole, before = of_row % unit_;
    builder_.LoadRuns(
        right_, of_row - before, at + offset % unit_ + first * pitch_ - before,
        width + before,
        {{CeilDiv(rows - first, turn), whole * turn, pitch_ * turn}});
  }
  at += offset % unit_;
  return at;
}

// Pushes column tiles first to last - 1 of a pass; all have the same width.
void ProductBlocks::PushRows(int64_t batch, size_t i, int64_t first,
                             int64_t last) {
  const Depth& depth = walk_.depths()[i];
  const int64_t strip =
      Strip(batch, static_cast<int64_t>(i), depth.k, depth.size,
            panel_ < n_tiles_ ? first / panel_ : 0);
  isa::Tiles tiles;
  tiles.ub_addr =
      static_cast<uint32_t>(strip + 2 * preset_.cols * (first % panel_));
  tiles.pitch = static_cast<uint32_t>(pitch_);
  tiles.rows = static_cast<uint32_t>(depth.size);
  tiles.cols =
      static_cast<uint32_t>(std::min(preset_.cols, n_ - first * preset_.cols));
  tiles.tiles = static_cast<uint32_t>(last - first);
  tiles.tile_stride = static_cast<uint32_t>(2 * preset_.cols);
  builder_.Append(tiles);
}
void ProductBlocks::PushColumns(int64_t batch, int64_t tile,
                                const Depth& depth) {
  const int64_t row = tile * preset_.cols;
  const int64_t rows = std::min(preset_.cols, n_ - row);
  isa::Tiles tiles;
  tiles.header.flags |= isa::Tiles::kTranspose;
  tiles.ub_addr =
      static_cast<uint32_t>(Strip(batch, tile, row, rows, 0) + 2 * depth.k);
  tiles.pitch = static_cast<uint32_t>(pitch_);
  tiles.rows = static_cast<uint32_t>(rows);
  tiles.cols = static_cast<uint32_t>(depth.size);
  tiles.tiles = 1;
  builder_.Append(tiles);
}

}  // namespace systole::lanes
