// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Instructions of the vector unit that compute a graph of lanes over rows:
// order, registers, constants.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_CODE_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_CODE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/lane_graph.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

struct LaneStore {
  Lane lane = -1;
  Storage storage = Storage::kWord;
  // Stores the upper 16 bits as they are; otherwise a half is rounded to bf16,
  // where every NaN becomes one.
  bool bits = false;
  bool first_lane = false;  // of a row, alone
};

// A run covers rows along three walks. Each walk has a start and a stride in
// bytes from row to row. These constants are argument indices of a run of the
// main entry.
constexpr int kWalks = 3, kNoWalk = -1;
constexpr int kRowCount = kWalks;           // rows
constexpr int kStrides = kWalks + 1;        // of each walk
constexpr int kLaneCount = 2 * kWalks + 1;  // lanes of a row that are moved

// A run of indexed code repeats this for each place of a table, up to eight
// rows at a time. The first walk starts at the places, the second one advances
// by kLinearStep bytes; the third one is not available. Places below 0 are
// skipped.
constexpr int kTable = 2;  // words: addresses in the unified buffer
constexpr int kLinearStep = kStrides + 2;
constexpr int kPlaceCount = kLaneCount + 1;
constexpr int kPlaceOffset = kLaneCount + 2;  // bytes, added to each place
enum class Loop : uint8_t {
  kRows,
  kPlaces,        // indexed
  kFencedPlaces,  // and loads of the next place see these stores
};

// Positions of the rows in the unified buffer, in bytes.
struct LanePlaces {
  struct Stream {
    int64_t at = 0;  // first row, relative to the start of the walk
    int walk = 0;    // kNoWalk: all rows are there
  };
  struct Operand {
    Stream stream;
    // For a splat: its element, and the row that it is spread to.
    int64_t element = 0, row = 0;
  };
  std::vector<Operand> operands;
  std::vector<Stream> stores;
  // Of each walk, bytes from row to row, as runs have them; -1: not known.
  std::array<int64_t, kWalks> strides = {-1, -1, -1};
  int64_t rows = 0;  // of most runs; 0: not known
};

struct LaneCode {
  std::vector<uint64_t> words;
  int main = 0;           // indices in the instruction memory
  int exact = -1;         // of guarded code: without guards
  double row_cycles = 0;  // expected, of many rows where pairs of groups exist
  // Run once before, if operands are splats; takes no arguments.
  int spread = -1;
};

// The rows of a run.
enum class RunRows : uint8_t {
  kFew,
  kMany,   // longer code, of which two groups of rows (as many as a register
           // has) run at a time, if the registers allow it
  kPairs,  // likewise, of runs of whole pairs of groups
  kFours,  // four groups at a time, of runs of whole fours
};

// Emits code for instruction memory index `base` on. Errors: ResourceExhausted
// (registers, instruction memory): the graph must be divided.
absl::StatusOr<LaneCode> Emit(const LaneGraph& graph,
                              const std::vector<LaneStore>& stores,
                              const LanePlaces& places, const Preset& preset,
                              int base = 0, Loop loop = Loop::kRows,
                              RunRows rows = RunRows::kFew);

// The same behind `words`, to which it is appended.
inline absl::StatusOr<LaneCode> AppendCode(const LaneGraph& graph,
                                           const std::vector<LaneStore>& stores,
                                           const LanePlaces& places,
                                           const Preset& preset,
                                           std::vector<uint64_t>& words,
                                           Loop loop = Loop::kRows,
                                           RunRows rows = RunRows::kFew) {
  absl::StatusOr<LaneCode> code =
      Emit(graph, stores, places, preset, static_cast<int>(words.size()), loop,
           rows);
  if (code.ok())
    words.insert(words.end(), code->words.begin(), code->words.end());
  return code;
}

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_CODE_H_
