// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Costs of descriptors, and a simulation of the five queues with these costs.
// The compiler orders programs and compares schedules with it. Measured cycles
// come from the RTL.
#ifndef HOST_COMPILER_COST_MODEL_H_
#define HOST_COMPILER_COST_MODEL_H_

#include <cstdint>
#include <vector>

#include "host/compiler/sequence.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::compiler {

struct Cost {
  // Beats moved. All transfers in flight share the memory, which moves one beat
  // per cycle or less.
  int64_t beats = 0;
  // Cycles before the unit takes the next descriptor, without the memory's.
  int64_t issue = 1;
  int64_t latency = 0;  // cycles from then to completion
  int64_t tiles = 0;    // weight tiles pushed or taken
  // Matmul: cycles of `issue` for the last pass, which may be shorter than the
  // time to load its tile.
  int64_t last = 0;
  // Vector unit: reads a word of the unified buffer every cycle.
  bool reads = false;
  double denies = 0;  // array: average cycles that it delays such a read
};

// Cycles that a descriptor occupies its unit. Matmul: a pass takes as many
// cycles as it has vectors, and at least ShortestPass if a pass with its own
// tile follows. Vrun: only the start and the end.
Cost CostOf(const isa::Descriptor& descriptor, const Preset& preset);

// Minimum cycles from the first vector of a tile to that of the next tile.
int64_t ShortestPass(const Preset& preset);

// Cycles from a vector's step until a later one can start from its sums.
int64_t ArrayLatency(const Preset& preset);

struct Timeline {
  std::vector<int64_t> start, end;  // of each step
  int64_t total = 0;
};

// Queues are in order and of unlimited length. A step starts after the steps
// that it depends on.
Timeline Simulate(const Sequence& sequence);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_COST_MODEL_H_
