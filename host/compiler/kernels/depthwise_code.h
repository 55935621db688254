// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Vector code of depthwise convolutions: chains of fma over the taps, in the
// order of docs/hlo.md, "Products".
//
// A *tile* is a few outputs along two axes. A register holds one output of as
// many tiles as it has rows, so taps that meet the same element share its load.
// The weights of a tap are row 0 of a register, or of one that is loaded when
// it is needed.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_CODE_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_CODE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/lane_graph.h"
#include "host/ir/hlo/products.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

struct DepthwiseTile {
  // Distances in bytes: in the input from the window of an output to that of
  // the next one and from tap to tap, in the result from output to output.
  struct Axis {
    int64_t outputs = 1, taps = 1;
    int64_t window = 0, tap = 0, out = 0;
  };
  std::array<Axis, 2> axes;          // the inner one second
  std::vector<int64_t> outer = {0};  // taps of all other axes: bytes, ascending
  ir::ProductPasses passes;
  // Of elements in the unified buffer: words (f32) or halves (bf16). Words have
  // one part. The next part's halves lie `part` bytes on.
  Storage input = Storage::kHalf, result = Storage::kHalf;
  int64_t part = 0;
  int64_t row_in = 0, row_out = 0;      // bytes from row to row
  int64_t tile_in = 0, tile_out = 0;    // from tile to tile
  int64_t chunk_in = 0, chunk_out = 0;  // from channels to the next ones
  // Weights are bf16, a line of all channels for each tap, the taps of each
  // part one after the other.
  int64_t chunk_weights = 0, weights_line = 0;
  // Whether all taps of an element follow each other, or all elements of a tap
  // along the inner axis.
  bool by_element = false;
  // Whether weights stay in registers for all tiles: the tiles of other
  // channels then wait for the ones before.
  bool holds = true;
  int ahead = 8;  // terms for which operands are loaded before, at most

  int64_t outputs() const { return axes[0].outputs * axes[1].outputs; }
  int64_t taps() const {
    return static_cast<int64_t>(outer.size()) * axes[0].taps * axes[1].taps;
  }
};

struct DepthwiseCode {
  std::vector<uint64_t> words;
  int64_t tile_cycles = 0;   // expected, of a tile with the given rows
  int64_t chunk_cycles = 0;  // of a chunk, beside its tiles
  int64_t times_cycles = 0;  // each time
  int64_t loads = 0;         // of elements, of a tile
};

// Arguments of a run: addresses of the first window, output, and line of
// weights; rows and lanes of a tile; tiles; how often these come again; chunks
// of channels; bytes from behind the tiles to those that come again.
enum DepthwiseArgument : uint8_t {
  kDepthwiseIn,
  kDepthwiseOut,
  kDepthwiseWeights,
  kDepthwiseRows,
  kDepthwiseLanes,
  kDepthwiseTiles,
  kDepthwiseTimes,
  kDepthwiseChunks,
  kDepthwiseNextIn,
  kDepthwiseNextOut,
};

// Code for instruction memory index `base` on; it starts there.
// ResourceExhausted: too many outputs for the registers, or too many terms for
// the instruction memory.
absl::StatusOr<DepthwiseCode> EmitDepthwise(const DepthwiseTile& tile,
                                            int64_t rows, const Preset& preset,
                                            int base);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_CODE_H_
