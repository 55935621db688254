// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// How the contraction of a convolution is cut into passes of the array. The
// taps of a kernel row are contiguous in memory (NHWC), so a pass takes pieces
// of such runs, one segment each, and packs as many as it has rows and segments
// for. Passes that differ only by a regular step share a descriptor.
#ifndef HOST_COMPILER_PASS_PLAN_H_
#define HOST_COMPILER_PASS_PLAN_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "host/compiler/geometry.h"
#include "systole/gen/presets.h"

namespace systole::compiler {

// `len` bytes of the window's line `line` (in input lines: kernel row x
// dilation), from byte `byte` of the window on (kernel column x dilation x
// channels + channel).
struct Segment {
  int64_t line = 0, byte = 0, len = 0;
  int64_t weight = 0;  // index of the first element in [kernel row][kernel
                       // column][channel of the column tile]
  int64_t used =
      0;  // elements that have a weight; the rest of `len` meets zero weights
};

// Runs of contraction elements, laid end to end and cut into passes of at most
// `rows` elements in at most `segments` pieces; elements take `element_bytes`.
// `closed`: whether a pass cannot take what begins there, though it has room.
// Every compiler of the array's work cuts here.
using PassClosed =
    std::function<bool(const std::vector<Segment>& pass, const Segment& next)>;
std::vector<std::vector<Segment>> CutContraction(
    const std::vector<Segment>& runs, int64_t rows, int64_t segments,
    int64_t element_bytes, const PassClosed& closed = nullptr);

// t1 x t0 passes: inner passes step `dx` bytes, outer ones `dy` lines.
struct PassGroup {
  std::vector<Segment> segments;  // of the first pass
  int64_t t0 = 1, dx = 0, t1 = 1, dy = 0;
  std::vector<std::vector<Segment>>
      passes;  // all of them, in the order in which they take tiles
};

struct PassPlan {
  Taps taps;
  std::vector<PassGroup> groups;
  int64_t passes() const;
};

// Rows of the array that a pass fills.
int64_t RowsOf(const std::vector<Segment>& pass);

// Of the first column tile; later ones of a depthwise convolution are
// FirstChannel bytes on. `shortest_last`: the pass that fills the fewest rows
// comes last, on its own, and takes no bytes without a weight.
PassPlan MakePassPlan(const Geometry& g, const Taps& taps, const Preset& preset,
                      bool shortest_last = false);

// The line pitch, at least `line_bytes`, a multiple of the beat, at which the
// windows of a vector meet the fewest common banks; the smallest of the best.
// `stalls`: cycles that they still cost a line of positions, all passes of a
// column tile together.
int64_t ChoosePitch(const Geometry& g, int64_t line_bytes, const Preset& preset,
                    int64_t* stalls = nullptr);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASS_PLAN_H_
