// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Everything that a program can observe or change.
#ifndef SYSTOLE_SIM_ISS_STATE_H_
#define SYSTOLE_SIM_ISS_STATE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "sim/iss/core_memory.h"
#include "sim/iss/vpu_state.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::iss {

using Tile = std::vector<int8_t>;  // [Rows][Cols] elements, as in memory

// Counters of work that does not depend on timing.
struct Counters {
  uint64_t load_beats = 0, weight_beats = 0, store_beats = 0, fetch_beats = 0;
  uint64_t send_bytes = 0;            // a run's last flit counts as whole
  uint64_t vectors = 0;               // activation vectors through the array
  uint64_t mxu_nan = 0, mxu_inf = 0;  // elements written, bf16
  uint64_t vector_nan = 0, vector_inf = 0;  // elements stored
};

// The cores that sends reach: those of the chips of a torus, row by row, and of
// each chip in their order. A chip alone is a torus of one chip.
struct Network {
  int columns = 1, rows = 1, cores = 1;
  std::vector<std::shared_ptr<SparseMemory>> memories;

  bool Has(int x, int y) const { return x < columns && y < rows; }
  int Number(int x, int y, int core) const {
    return (y * columns + x) * cores + core;
  }
};

struct State {
  State(const Preset& preset, uint64_t seed);

  const Preset& preset;
  CoreMemory hbm;
  std::vector<uint8_t> ub;
  std::vector<int32_t> acc;  // [AccRows][Cols]; bf16: bits of fp32
  std::deque<Tile> weight_fifo;
  std::optional<Tile> tile;  // the tile in the array; none: undefined
  // Table of the vector unit's lanes: byte q + 128 for q; none: undefined.
  std::optional<std::array<uint8_t, 256>> table;
  std::array<uint32_t, isa::kNumFlags> flags = {};
  bool acc_saturated = false;
  uint64_t hbm_limit;  // end of HBM accesses
  Counters counters;
  VpuState vpu;
  VrunLog vrun_log;  // log of the last vrun
  // Where the repetitions of the last load's, store's or send's inner loop
  // began in HBM.
  std::vector<uint64_t> dma_rows;
  std::shared_ptr<Network> network;  // none in chips without links

  absl::Span<int32_t> acc_row(int64_t row) {
    return absl::MakeSpan(acc).subspan(row * preset.cols, preset.cols);
  }
  uint64_t beat() const { return static_cast<uint64_t>(preset.beat_bytes()); }

  // CRC-32 of the contents, for comparison with another implementation.
  uint32_t UbCrc32() const;
  uint32_t AccCrc32() const;
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_STATE_H_
