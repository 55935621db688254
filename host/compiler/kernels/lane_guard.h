// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Code around a guarded graph (lane_graph.h): it computes all rows, then looks
// whether a guard told so. If it did, a second graph computes all rows again.
//
//   main:  save the arguments; rows of the guarded graph; check, halt
//   exact: restore the arguments; rows of the other graph, halt
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_GUARD_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_GUARD_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_graph.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Bytes of the unified buffer for the arguments and the guards' result.
inline constexpr int64_t kGuardBytes = 32;
// Registers with the guards of the first and the second group of rows.
inline constexpr int kGuards[] = {16, 24};

// Such code, for instruction memory index `base` on. at: kGuardBytes of the
// unified buffer. `rows`: of the first graph; `exact_rows`: of the second one,
// which seldom runs.
absl::StatusOr<LaneCode> EmitGuarded(const LaneGraph& guarded,
                                     const std::vector<LaneStore>& stores,
                                     const LaneGraph& exact,
                                     const std::vector<LaneStore>& exact_stores,
                                     const LanePlaces& places,
                                     const Preset& preset, int64_t at, int base,
                                     RunRows rows, RunRows exact_rows);

// Each appends to `words`; `at` is the place of the bytes above.
void AppendSave(int64_t at, std::vector<uint64_t>& words);
// Clears the guards of all rows.
void AppendClear(const Preset& preset, std::vector<uint64_t>& words);
// Ends the run if no guard told. Returns the index in `words` of the
// branch where it goes on otherwise.
size_t AppendCheck(int64_t at, const Preset& preset,
                   std::vector<uint64_t>& words);
void AppendRestore(int64_t at, std::vector<uint64_t>& words);
// Sets a branch's target.
void SetTarget(uint64_t& word, int64_t target);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_GUARD_H_
