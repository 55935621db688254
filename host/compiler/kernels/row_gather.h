// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels for gather and slices of a tensor that stays in HBM. The vector unit
// turns the windows' starts into numbers of beats, and indexed
// loads bring the beats that each contiguous piece of a window lies in. Pieces
// that are no whole beats are then moved together.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_ROW_GATHER_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_ROW_GATHER_H_

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Like CompileNode, of a node that reads windows (windows.h). No stride is
// negative.
// ResourceExhausted: the starts do not fit the unified buffer, or the operand
// has 2 GB or more.
absl::StatusOr<KernelProgram> CompileRowGather(const ir::Node& node,
                                               const Preset& preset,
                                               int64_t origin);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_ROW_GATHER_H_
