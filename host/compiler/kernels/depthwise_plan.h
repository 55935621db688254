// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How the kernel of a depthwise convolution cuts its work: blocks that DMA
// moves, tiles whose sums the registers hold.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_PLAN_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/depthwise_code.h"
#include "host/compiler/kernels/depthwise_shape.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Parts of `count` positions, each of `span`: the last one is moved back to end
// with the last position.
struct DepthwiseParts {
  int64_t count, span;
  int64_t whole() const { return count / span; }
  int64_t number() const { return (count + span - 1) / span; }
  int64_t start(int64_t i) const {
    return i < whole() ? i * span : count - span;
  }
};

struct DepthwisePlan {
  DepthwiseBlock block;
  int64_t sets = 1;  // blocks in the unified buffer at a time
  // Along which axis the rows of a register follow each other, and the tiles of
  // a run; -1: one tile.
  int rows_axis = 0, tiles_axis = -1;
  int64_t beside = 1;  // positions of the last axis in the lanes
  int64_t width = 1;   // channels of a chunk
  // Inputs of several parts are split in the unified buffer, where bf16 parts
  // lie like the elements.
  bool splits = false;
  std::vector<int64_t> in;  // strides as the code reads them, of axes
  int64_t image_in = 0;
  DepthwiseTile tile;
  DepthwiseCode code;

  // Positions of a row's tile along an axis.
  int64_t SpanOf(int axis) const;
  // The groups of rows of so many lines, and the rows of each.
  struct Rows {
    DepthwiseParts parts;
    int64_t rows;
  };
  Rows RowsOf(const DepthwiseShape& shape, int64_t lines,
              const Preset& preset) const;
  DepthwiseParts TilesOf(const DepthwiseShape& shape, int64_t lines) const;
  // Whether a run repeats its work for images, not for groups of rows.
  static bool RepeatsImages(int64_t images, const DepthwiseParts& groups) {
    return images >= groups.whole();
  }
  // Expected, of the code.
  int64_t RunCycles(int64_t tiles, int64_t times, int64_t chunks) const {
    return chunks * (times * (tiles * code.tile_cycles + code.times_cycles) +
                     code.chunk_cycles);
  }
  DepthwiseParts ChunksOf(const DepthwiseShape& shape) const {
    return {shape.channels, width};
  }
};

// Plans that are worth a try, the one with the fewest expected cycles first.
// `room`: bytes of the unified buffer. `base`: instructions before the code.
std::vector<DepthwisePlan> DepthwisePlans(const DepthwiseShape& shape,
                                          int64_t room, int base,
                                          const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_PLAN_H_
