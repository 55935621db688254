// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/presets.yaml by scripts/generate.py: edit the source.

#ifndef SYSTOLE_GEN_PRESETS_H_
#define SYSTOLE_GEN_PRESETS_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace systole {

// One configuration of the core.
struct Preset {
  std::string_view name;
  int id;
  int64_t rows;  // array rows: contraction elements a pass; also bytes of a unified buffer word (power of two, 8..256)
  int64_t cols;  // array columns: output channels a pass; equals Rows
  int64_t ub_bytes;  // unified buffer size in bytes
  int64_t ub_banks;  // unified buffer banks, each one read and one write port of one word
  int64_t acc_rows;  // accumulator rows of Cols int32, in two banks of half the rows each
  int64_t wfifo_tiles;  // weight FIFO capacity in tiles of Rows x Cols bytes
  int64_t hbm_pcs;  // HBM pseudo-channels of 16 bytes a cycle each (even)
  int64_t segments;  // read windows of the systolic data setup: kernel tap runs packed into one pass
  int64_t queue_depth;  // descriptors a unit queue holds

  // Bytes of an HBM beat: the peak of all pseudo-channels in one cycle; DMA alignment.
  constexpr int64_t beat_bytes() const { return 16 * hbm_pcs; }
  // Bytes of a unified buffer word.
  constexpr int64_t word_bytes() const { return rows; }
  constexpr int64_t macs_per_cycle() const { return rows * cols; }
  // Rows of one of the two accumulator banks: the largest block of a matmul.
  constexpr int64_t acc_bank_rows() const { return acc_rows / 2; }
  constexpr int64_t tile_bytes() const { return rows * cols; }
  // Bytes of a requantise parameter block: int32 bias, int32 multiplier, int8 shift a column.
  constexpr int64_t param_block_bytes() const { return 9 * cols; }
};

inline constexpr std::array<Preset, 3> kPresets = {{
    {"nano", 0, 8, 8, 65536, 16, 512, 8, 2, 4, 8},
    {"edge", 1, 32, 32, 524288, 8, 1024, 8, 4, 4, 8},
    {"v1", 2, 256, 256, 25165824, 8, 4096, 4, 8, 4, 8},
}};

// The preset of that name, or nullptr.
constexpr const Preset* FindPreset(std::string_view name) {
  for (const Preset& p : kPresets) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

}  // namespace systole

#endif  // SYSTOLE_GEN_PRESETS_H_
