// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Instructions of the vector unit that compute a graph of lanes over rows:
// order, registers, constants.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_CODE_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_CODE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/lane_graph.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

struct LaneStore {
  Lane lane = -1;
  Storage storage = Storage::kWord;
  // Halves whose bits all count (a store of a half makes NaNs one): the lanes
  // are words of two, for half as many, rounded up; so what lies behind an odd
  // number of them is overwritten.
  bool pairs = false;
};

// A run goes over rows along three walks, each with a place to begin and bytes
// from a row to the next. Arguments of a run of the main entry, by index.
constexpr int kWalks = 3;
constexpr int kRowCount = kWalks;           // rows
constexpr int kStrides = kWalks + 1;        // of each walk
constexpr int kLaneCount = 2 * kWalks + 1;  // lanes of a row that are moved

// A run of indexed code does the same once for each place of a table, up to
// eight rows at a time. The first walk begins at the places, the second one
// goes on by kLinearStep bytes; the third one is not to be had.
constexpr int kTable = 2;  // words, addresses of the unified buffer
constexpr int kLinearStep = kStrides + 2;
constexpr int kPlaceCount = kLaneCount + 1;
constexpr int kPlaceOffset = kLaneCount + 2;  // bytes, added to each place
enum class Loop : uint8_t {
  kRows,
  kPlaces,        // indexed
  kFencedPlaces,  // and what is stored is seen by the loads of the next place
};

// Where rows lie in the unified buffer, in bytes.
struct LanePlaces {
  struct Stream {
    int64_t at = 0;  // the first row, behind where the walk begins
    int walk = 0;
  };
  struct Operand {
    Stream stream;
    // Of a splat: its element, and a row that it is spread to.
    int64_t element = 0, row = 0;
  };
  std::vector<Operand> operands;
  std::vector<Stream> stores;
};

struct LaneCode {
  std::vector<uint64_t> words;
  int main = 0;     // indices in the instruction memory
  int spread = -1;  // run once before, where operands are splats; takes nothing
};

// Code for index `base` of the instruction memory on. Errors: ResourceExhausted
// (registers, instruction memory), so that the graph has to be divided.
absl::StatusOr<LaneCode> Emit(const LaneGraph& graph,
                              const std::vector<LaneStore>& stores,
                              const LanePlaces& places, const Preset& preset,
                              int base = 0, Loop loop = Loop::kRows);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_CODE_H_
