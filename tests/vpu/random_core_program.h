// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Random programs for a whole bf16 core: DMA of all shapes, tiles from the
// unified buffer and from HBM, plain and transposing matmuls, vector programs
// (random_program.h), in a random order with the flags that the schedule
// builder plans. At the end all of the unified buffer and of the accumulators
// is in HBM, so two implementations that agree on `result` agree on all that
// they hold.
#ifndef SYSTOLE_TESTS_VPU_RANDOM_CORE_PROGRAM_H_
#define SYSTOLE_TESTS_VPU_RANDOM_CORE_PROGRAM_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "systole/gen/presets.h"
#include "systole/program.h"

namespace systole::vpu {

struct CoreProgram {
  Program program;
  uint64_t result_begin, result_end;  // HBM bytes
};

// About `items` descriptors (a vector program counts as one). The preset is one
// of a bf16 cell.
absl::StatusOr<CoreProgram> MakeRandomCoreProgram(const Preset& preset,
                                                  uint64_t seed, int items);

}  // namespace systole::vpu

#endif  // SYSTOLE_TESTS_VPU_RANDOM_CORE_PROGRAM_H_
