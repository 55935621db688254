// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/presets.yaml by scripts/generate.py: edit the source.

#ifndef SYSTOLE_GEN_PRESETS_H_
#define SYSTOLE_GEN_PRESETS_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace systole {

// What multiplies and adds in the array, and with it the number format of the core.
enum class Cell : uint8_t {
  kInt8 = 0,  // int8 x int8 + int32; the quantising vector unit; inference
  kBf16 = 1,  // bf16 x bf16 + fp32, one rounding; the programmable fp32 vector unit; training
};

// What a chip's programs, weights and tensors lie in.
enum class Memory : uint8_t {
  kHbm = 0,  // HBM stacks behind controllers of the chip; a PHY port a pseudo-channel
  kAxi = 1,  // a board's DRAM behind one AXI4 master port of a beat's width
};

inline constexpr std::array<std::string_view, 2> kCellNames = {"int8", "bf16"};

// One configuration of a core.
struct CoreConfig {
  int64_t rows;  // array rows: contraction elements a pass (power of two, 8..256)
  int64_t cols;  // array columns: output channels a pass; equals Rows
  Cell cell;  // number format of the array, of the weights and activations
  int64_t cell_stages;  // pipeline stages of a cell of the array (int8: 1 or 2)
  int64_t multipliers;  // int8: cells of the array with a multiplier block, evenly spread; the others multiply in logic (all: Rows * Cols)
  int64_t ub_bytes;  // unified buffer size in bytes
  int64_t ub_banks;  // unified buffer banks, each one read and one write port of one word
  int64_t acc_rows;  // accumulator rows of Cols 32-bit lanes, in two banks of half the rows each
  int64_t wfifo_tiles;  // weight FIFO capacity in tiles of Rows x Cols elements
  int64_t load_buses;  // blocks of a tile along a row and along a column; all are loaded at once, a row of each a cycle
  int64_t vector_lanes;  // results a cycle of the vector unit (power of two up to Cols; bf16: Cols)
  int64_t sublanes;  // bf16: rows of a vector register that each ALU and the cross unit take in a cycle, an eighth of its rows; int8: 1
  int64_t residual;  // int8: 1 if the vector unit adds a second operand to what it requantises; else 0
  int64_t segments;  // read windows of the systolic data setup: kernel tap runs packed into one pass
  int64_t queue_depth;  // descriptors a unit queue holds
  int64_t parity;  // 1 if descriptors that wait and sync flags have parity, checked in each cycle; else 0
  int64_t beat;  // bytes of a beat: what memory reads or writes in one cycle at most; DMA alignment

  constexpr int64_t beat_bytes() const { return beat; }
  // Bytes of a beat of the host's AXI4 port: a beat, as far as AXI4 has such widths.
  constexpr int64_t axi_bytes() const { return beat_bytes() < 128 ? beat_bytes() : 128; }
  constexpr std::string_view cell_name() const { return kCellNames[static_cast<int>(cell)]; }
  // Bytes of a weight or activation.
  constexpr int64_t element_bytes() const { return cell == Cell::kBf16 ? 2 : 1; }
  // Bytes of a unified buffer word: a vector of int8 activations, or a row of fp32 lanes.
  constexpr int64_t word_bytes() const { return cell == Cell::kBf16 ? 4 * cols : rows; }
  // Read windows: data setup, the vector unit's (bf16: two), the weight loader's (bf16).
  constexpr int64_t num_windows() const {
    return cell == Cell::kBf16 ? segments + 2 + tile_windows() : segments + 1;
  }
  // Read windows of the weight loader (bf16), one for each row of a tile in a beat.
  constexpr int64_t tile_windows() const { return cell == Cell::kBf16 ? beat / (2 * cols) : 1; }
  constexpr int64_t macs_per_cycle() const { return rows * cols; }
  // Rows of one of the two accumulator banks: the largest block of a matmul.
  constexpr int64_t acc_bank_rows() const { return acc_rows / 2; }
  // Rows of a vector register (bf16).
  constexpr int vector_rows() const { return 8 * static_cast<int>(sublanes); }
  constexpr int64_t tile_bytes() const { return rows * cols * element_bytes(); }
  // Bytes of a requantise parameter block (int8): int32 bias, int32 multiplier, int8 shift a column.
  constexpr int64_t param_block_bytes() const { return 9 * cols; }
};

// One configuration of a chip, but its core.
struct ChipConfig {
  int64_t cores;  // cores, each with a memory, registers and a scalar unit of its own; 2: joined by the crossbar
  Memory memory;  // kind of memory
  int64_t hbm_pcs;  // hbm: pseudo-channels of 16 bytes a cycle each, together a beat (even); axi: 0
  int64_t dram_bytes;  // axi: bytes of memory; hbm: 0, the pseudo-channels say it
  int64_t smem_bytes;  // bytes of the scalar unit's memory; 0: no scalar unit, the host's registers start programs
  int64_t link_bytes;  // bytes a cycle and direction of each of four links to other chips; 0: no links
  int64_t ecc;  // hbm: 1 if 8 check bits correct one wrong bit of each 64 and find two; else 0
};

// A chip with its core, by name.
struct Preset : CoreConfig {
  ChipConfig chip;
  std::string_view name;
  int id;

  // Bytes of a core's own memory.
  constexpr uint64_t memory_bytes() const {
    return chip.memory == Memory::kAxi ? chip.dram_bytes : static_cast<uint64_t>(beat_bytes()) << 25;
  }
  // Bytes that a core reaches: its own memory, then the other core's.
  constexpr uint64_t reach_bytes() const { return memory_bytes() * chip.cores; }
  // Bytes of a flit of the links (docs/link.md).
  constexpr int64_t flit_bytes() const { return chip.link_bytes == 0 ? 16 : chip.link_bytes > 16 ? 64 : 4 * chip.link_bytes; }
};

inline constexpr std::array<Preset, 12> kPresets = {{
    {{8, 8, Cell::kInt8, 1, 64, 65536, 16, 512, 8, 1, 8, 1, 1, 4, 8, 1, 32}, {1, Memory::kHbm, 2, 0, 0, 0, 0}, "nano", 0},
    {{32, 32, Cell::kInt8, 1, 1024, 524288, 8, 1024, 8, 2, 32, 1, 1, 4, 8, 1, 64}, {1, Memory::kHbm, 4, 0, 0, 0, 0}, "edge", 1},
    {{256, 256, Cell::kInt8, 1, 65536, 25165824, 8, 4096, 4, 1, 256, 1, 1, 4, 8, 1, 128}, {1, Memory::kHbm, 8, 0, 0, 0, 0}, "v1", 2},
    {{8, 8, Cell::kBf16, 3, 64, 131072, 16, 512, 8, 2, 8, 2, 0, 4, 8, 1, 32}, {1, Memory::kHbm, 2, 0, 0, 0, 1}, "mini", 3},
    {{128, 128, Cell::kBf16, 3, 16384, 16777216, 8, 4096, 8, 2, 128, 4, 0, 4, 8, 1, 512}, {1, Memory::kHbm, 32, 0, 0, 0, 1}, "v2", 4},
    {{32, 32, Cell::kBf16, 3, 1024, 1048576, 8, 1024, 8, 2, 32, 2, 0, 4, 8, 1, 128}, {1, Memory::kHbm, 8, 0, 0, 0, 1}, "lite", 5},
    {{8, 8, Cell::kInt8, 2, 64, 65536, 8, 1024, 8, 1, 2, 1, 0, 4, 8, 0, 16}, {1, Memory::kAxi, 0, 33554432, 0, 0, 0}, "board8", 6},
    {{16, 16, Cell::kInt8, 2, 145, 131072, 4, 1024, 8, 1, 2, 1, 0, 2, 8, 0, 16}, {1, Memory::kAxi, 0, 33554432, 0, 0, 0}, "board", 7},
    {{8, 8, Cell::kBf16, 3, 64, 131072, 16, 512, 8, 2, 8, 2, 0, 4, 8, 1, 32}, {2, Memory::kHbm, 2, 0, 32768, 4, 1}, "minichip", 8},
    {{128, 128, Cell::kBf16, 3, 16384, 16777216, 8, 4096, 8, 2, 128, 4, 0, 4, 8, 1, 512}, {2, Memory::kHbm, 32, 0, 0, 64, 1}, "v2chip", 9},
    {{32, 32, Cell::kInt8, 1, 1024, 524288, 8, 1024, 8, 2, 32, 1, 1, 4, 8, 1, 64}, {1, Memory::kHbm, 4, 0, 32768, 0, 0}, "edgechip", 10},
    {{32, 32, Cell::kBf16, 3, 1024, 1048576, 8, 1024, 8, 2, 32, 2, 0, 4, 8, 1, 128}, {2, Memory::kHbm, 8, 0, 0, 16, 1}, "litechip", 11},
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
