// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Broadcasts along dimensions on both sides of the operand's as two, so that
// the second one repeats lines:
//
//   [N, 8] -> [N, 1024, 8, 16], a number for each group of features:
//     [N, 8] -> [N, 8, 16] -> [N, 1024, 8, 16]
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_BROADCAST_SPLIT_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_BROADCAST_SPLIT_H_

#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Divides those of a module whose lines are much shorter than a row of lanes.
void SplitBroadcasts(ir::Module& module, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_BROADCAST_SPLIT_H_
