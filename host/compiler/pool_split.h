// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Maxima over windows in two steps: first over the rows of each window, then
// over its columns. The first step treats all bytes of a line alike, so all
// lanes work however few channels there are, and kh + kw taps replace kh * kw.
// A buffer of whole lines holds the intermediate maxima.
#ifndef HOST_COMPILER_POOL_SPLIT_H_
#define HOST_COMPILER_POOL_SPLIT_H_

#include <cstdint>

#include "host/compiler/geometry.h"
#include "systole/gen/presets.h"
#include "systole/model.h"

namespace systole::compiler {

struct PoolSplit {
  int64_t pitch = 0;  // of the lines between the steps
  int64_t lines = 0;  // lines that the buffer holds; 0 = one step
  int64_t bytes() const { return lines * pitch; }
};

// How to split a pool with all channels present, if splitting is faster.
PoolSplit SplitOf(model::Op op, const Geometry& g, const Preset& preset);

// Vector unit cycles for `lines` lines of `positions` results.
int64_t PoolCycles(const PoolSplit& split, const Geometry& g,
                   const Preset& preset, int64_t lines, int64_t positions);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_POOL_SPLIT_H_
