// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What descriptors cost, and a simulation of the five queues with those costs.
// It orders programs and lets schedules be compared; measured cycles come from
// the RTL.
#ifndef HOST_COMPILER_COST_MODEL_H_
#define HOST_COMPILER_COST_MODEL_H_

#include <cstdint>
#include <vector>

#include "host/compiler/sequence.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::compiler {

struct Cost {
  int64_t beats = 0;  // beats moved; they share the memory, a beat a cycle or a
                      // part of one, with everything else in flight
  int64_t issue =
      1;  // cycles before the unit takes the next descriptor, memory aside
  int64_t latency = 0;  // from then to completion
  int64_t tiles = 0;    // weight tiles pushed or taken
  int64_t last = 0;  // matmul: of `issue`, the last pass, which may be shorter
                     // than its tile's way in
  bool reads = false;  // of the vector unit: a word of the unified buffer each
                       // cycle
  double denies = 0;   // of the array: cycles that such a read waits for a bank
};

// Cycles a descriptor costs its unit. Matmul: a pass takes the vectors, but
// ShortestPass at least if another follows with a tile of its own. Of a vrun
// only what starts and ends it.
Cost CostOf(const isa::Descriptor& descriptor, const Preset& preset);

// Cycles from a tile's first vector to the next one's at least.
int64_t ShortestPass(const Preset& preset);

struct Timeline {
  std::vector<int64_t> start, end;  // of each step
  int64_t total = 0;
};

// Queues are in order and as long as need be; steps start after those that they
// must come after.
Timeline Simulate(const Sequence& sequence);

// A read of `len` bytes by a window of the data setup.
struct WindowRead {
  int64_t address = 0, len = 0;
};

// Cycles that the windows of one vector need: each reads the words that hold
// its bytes, one or two, and a bank serves one word a cycle.
int64_t WindowCycles(const std::vector<WindowRead>& reads,
                     const Preset& preset);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_COST_MODEL_H_
