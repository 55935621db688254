// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The order of a loop's instructions. Instructions are dispatched in order, and
// a unit that waits for its sources fills its queue until nothing more is
// dispatched. So a load that comes as soon as its register is free, before the
// instructions that its unit does not have to wait for, is complete when its
// first reader begins; a reader of a load that runs goes at the load's pace.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_SCHEDULE_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "systole/gen/presets.h"

namespace systole::lanes {

// Reorders the instructions from `first` to the end, the body of a loop without
// branches, if the model of the unit's timing (lane_timing.h) then expects
// fewer cycles. Each instruction stays behind those whose results it reads,
// and those that read or write what it writes; stores stay behind all loads and
// stores before them. Loads may come before stores, as docs/vpu.md, "Order",
// has it. Code with other control or with loads of scalars stays as it is.
// `lanes`: the scalar register with the number of lanes before and after.
void Schedule(std::vector<uint64_t>& words, size_t first, int lanes,
              const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_SCHEDULE_H_
