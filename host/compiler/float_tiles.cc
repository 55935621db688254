// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/float_tiles.h"

#include <algorithm>
#include <cstring>

#include "host/compiler/geometry.h"

namespace systole::compiler {

int64_t FloatTileGroup(int64_t n, int64_t bytes, const Preset& preset) {
  return std::min<int64_t>(
      CeilDiv(n, preset.cols),
      std::max<int64_t>(2, preset.beat_bytes() / (preset.cols * bytes)));
}

// Tiles in the order of use: group, k, column tile.
std::vector<uint8_t> PackTiles(const FloatMatmulSpec& spec,
                               const Preset& preset, const uint16_t* b) {
  const int64_t k_tiles = CeilDiv(spec.k, preset.rows);
  const int64_t n_tiles = CeilDiv(spec.n, preset.cols);
  const int64_t group =
      FloatTileGroup(spec.n, spec.float32_result ? 4 : 2, preset);
  // A transposed tile is stored as it is in b: its rows are columns.
  const int64_t lines = spec.b_transposed ? spec.n : spec.k;
  const int64_t width = spec.b_transposed ? spec.k : spec.n;
  std::vector<uint8_t> bytes(k_tiles * n_tiles * preset.tile_bytes());
  uint8_t* out = bytes.data();
  for (int64_t g = 0; g < n_tiles; g += group) {
    for (int64_t k = 0; k < k_tiles; ++k) {
      for (int64_t t = g; t < std::min(n_tiles, g + group); ++t) {
        const int64_t line =
            spec.b_transposed ? t * preset.cols : k * preset.rows;
        const int64_t first =
            spec.b_transposed ? k * preset.rows : t * preset.cols;
        const int64_t count = std::min(preset.cols, width - first);
        for (int64_t r = 0; r < preset.rows; ++r, out += 2 * preset.cols) {
          if (line + r < lines)
            std::memcpy(out, b + (line + r) * width + first, 2 * count);
        }
      }
    }
  }
  return bytes;
}

}  // namespace systole::compiler
