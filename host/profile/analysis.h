// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What a recording says: cycles by layer, what each cycle of the program was
// spent on, and what to do about it.
//
//   const Analysis analysis = Analyse(program, preset, recording);
//   for (const Finding& f : analysis.findings) Print(FindingText(f, ...));
#ifndef SYSTOLE_HOST_PROFILE_ANALYSIS_H_
#define SYSTOLE_HOST_PROFILE_ANALYSIS_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "host/profile/recorder.h"
#include "systole/device.h"
#include "systole/gen/presets.h"
#include "systole/program.h"

namespace systole::profile {

using CauseCounts = std::array<uint64_t, kNumCauses>;

// Cycles of a layer. A cycle of a unit belongs to the layer of the descriptor
// that it is at, or that comes next.
struct LayerCycles {
  // Of the program; over all layers they are its cycles, but for what comes
  // behind the last descriptor.
  uint64_t cycles = 0;
  uint64_t first = 0, last = 0;  // start and end of its work, array and vector
  std::array<CauseCounts, kProbedQueues> units{};
  // Of its multiplications in the cycles in which the array worked, those that
  // the array could do: the rest are rows and columns that hold no weights. 1:
  // nothing stays empty, or nothing is multiplied.
  double filled = 1;
  uint64_t of(Unit unit, Cause cause) const {
    return units[static_cast<int>(unit)][static_cast<int>(cause)];
  }
};

// What stood behind cycles of a layer. Each cycle of the program is looked at
// from the array, or when no products are left from the vector unit, then the
// store; where that waits for a unit, that one is looked at, and so on.
struct Finding {
  int layer = -1;               // of the unit looked at; -1: none is left
  Unit unit = Unit::kMxu;       // looked at first
  Cause cause = Cause::kWork;   // its cause
  Unit root_unit = Unit::kMxu;  // at the end of the chain
  Cause root_cause = Cause::kWork;
  int root_layer = -1;
  // What the memory does, where the root waits for it; else kDone.
  Cause memory = Cause::kDone;
  uint64_t cycles = 0;
  double filled = 1;  // of the array that works (LayerCycles)
};

struct Analysis {
  std::vector<LayerCycles> layers;
  // The largest first; their cycles add up to the program's.
  std::vector<Finding> findings;
};

// That the recording accounts for each cycle of each unit once, and agrees with
// the counters of the RTL. kInternal names what does not.
absl::Status CheckRecording(const Recording& recording, const Preset& preset,
                            const RunStats& stats);

// The share of the array's cells that the layer's multiplications use while it
// works (LayerCycles::filled).
double FilledOf(const LayerInfo& info, const LayerCycles& layer,
                const Preset& preset);

Analysis Analyse(const Program& program, const Recording& recording);

// "conv3: 14.0 % of its cycles the array waits for weights (weight loader:
// memory latency)", and what may help. Empty: nothing to do, it works.
std::string FindingText(const Finding& finding, const Program& program,
                        const Analysis& analysis);
std::string AdviceFor(const Finding& finding);

}  // namespace systole::profile

#endif  // SYSTOLE_HOST_PROFILE_ANALYSIS_H_
