// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the code of a loop over rows costs.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_COST_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_COST_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/compiler/kernels/lane_timing.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Cycles an iteration of a long loop, the instructions `words`, whose registers
// have `rows` rows; the unified buffer refuses nothing. The mean of `measured`
// iterations, with so many before.
double IterationCycles(
    const std::vector<uint64_t>& words, int64_t rows, const Preset& preset,
    int before = 4, int measured = 8,
    const LaneTiming::Strides& strides = LaneTiming::NoStrides());

// Cycles a row of a long loop, the instructions from `first` on, that computes
// `groups` groups of rows, of a register each, in an iteration; the unified
// buffer refuses nothing.
double RowCycles(const std::vector<uint64_t>& words, size_t first, int groups,
                 const Preset& preset,
                 const LaneTiming::Strides& strides = LaneTiming::NoStrides());

// Cycles of a run of `code`, a loop over rows, from `pc` on to its halt. A word
// that it loads is 0, so that no guard tells.
int64_t RunCycles(const std::vector<uint64_t>& code, int pc,
                  const std::vector<int64_t>& arguments, const Preset& preset,
                  const LaneTiming::Strides& strides);

inline int64_t CyclesOf(double row_cycles, int64_t rows) {
  return static_cast<int64_t>(
      std::ceil(row_cycles * static_cast<double>(rows)));
}

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_COST_H_
