// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Maxima over windows in two steps: over the rows of each window first, then
// over its columns. In the first step neighbours in a line need not be told
// apart, so all lanes work however few the channels are; and kh + kw taps take
// the place of kh * kw. Between the two steps the maxima lie in a buffer of
// whole lines.
#ifndef HOST_COMPILER_POOL_SPLIT_H_
#define HOST_COMPILER_POOL_SPLIT_H_

#include <cstdint>

#include "host/compiler/geometry.h"
#include "systole/gen/presets.h"
#include "systole/model.h"

namespace systole::compiler {

struct PoolSplit {
  int64_t pitch = 0;  // of the lines between the steps
  int64_t lines = 0;  // that are there at once; 0 = the pool is one step
  int64_t bytes() const { return lines * pitch; }
};

// How a pool whose channels are all there at once is split, if that is faster.
PoolSplit SplitOf(model::Op op, const Geometry& g, const Preset& preset);

// Cycles of the vector unit for `lines` lines of `positions` results.
int64_t PoolCycles(const PoolSplit& split, const Geometry& g,
                   const Preset& preset, int64_t lines, int64_t positions);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_POOL_SPLIT_H_
