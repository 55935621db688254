// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Cuts the contraction of a convolution into passes of the array. The taps of a
// kernel row are contiguous in memory (NHWC). So a pass takes pieces of such
// runs, one segment each, as many as it has rows and segments for. Passes that
// differ only by a constant step share a descriptor.
#ifndef HOST_COMPILER_PASS_PLAN_H_
#define HOST_COMPILER_PASS_PLAN_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "host/compiler/geometry.h"
#include "systole/gen/presets.h"

namespace systole::compiler {

// `len` bytes of line `line` of the window (in input lines: kernel row x
// dilation), starting at byte `byte` of the window (kernel column x dilation x
// channels + channel).
struct Segment {
  int64_t line = 0, byte = 0, len = 0;
  // Index of the first element in [kernel row][kernel column][channel of the
  // column tile].
  int64_t weight = 0;
  // Elements that have a weight; the rest of `len` meets zero weights.
  int64_t used = 0;
};

// Lays runs of contraction elements end to end and cuts them into passes of at
// most `rows` elements in at most `segments` pieces; an element has
// `element_bytes` bytes. `closed` says that a pass cannot take the next piece
// although it has room. Every compiler of array work cuts with this function.
using PassClosed =
    std::function<bool(const std::vector<Segment>& pass, const Segment& next)>;
std::vector<std::vector<Segment>> CutContraction(
    const std::vector<Segment>& runs, int64_t rows, int64_t segments,
    int64_t element_bytes, const PassClosed& closed = nullptr);

// t1 x t0 passes: inner passes step by `dx` bytes, outer ones by `dy` lines.
struct PassGroup {
  std::vector<Segment> segments;  // segments of the first pass
  int64_t t0 = 1, dx = 0, t1 = 1, dy = 0;
  std::vector<std::vector<Segment>>
      passes;  // all passes, in the order in which they take tiles
  // Which part of the weights the tiles have (weights.h).
  int plane = 0;
};

struct PassPlan {
  Taps taps;
  std::vector<PassGroup> groups;
  int64_t passes() const;
};

// Rows of the array that a pass fills.
int64_t RowsOf(const std::vector<Segment>& pass);

// The plan of the first column tile; later tiles of a depthwise convolution are
// FirstChannel bytes further. `shortest_last`: the pass that fills the fewest
// rows comes last, alone, and reads no bytes without a weight.
PassPlan MakePassPlan(const Geometry& g, const Taps& taps, const Preset& preset,
                      bool shortest_last = false);

// The best line pitch: a multiple of the beat, at least `line_bytes`, at which
// the windows of a vector have the fewest bank conflicts; of equal ones the
// smallest. `stalls`: cycles that the conflicts still cost per line of
// positions, over all passes of a column tile.
int64_t ChoosePitch(const Geometry& g, int64_t line_bytes, const Preset& preset,
                    int64_t* stalls = nullptr);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASS_PLAN_H_
