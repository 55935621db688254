// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels for dynamic_update_slice of a tensor in HBM: indexed stores write the
// pieces of the window. Pieces that are no whole beats are put into the beats
// that they lie in, which are loaded before.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_ROW_UPDATE_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_ROW_UPDATE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Like CompileNode. in_place: the result lies where the operand does, and holds
// its values; the kernel does not touch the operand. Otherwise these are copied
// first. ResourceExhausted: starts or a piece do not fit the unified buffer,
// pieces share beats, or the operand has 2 GB or more.
absl::StatusOr<KernelProgram> CompileRowUpdate(const ir::Node& node,
                                               const Preset& preset,
                                               int64_t origin, bool in_place);

// Copies the first operand to the second one.
absl::StatusOr<KernelProgram> CompileCopy(int64_t bytes, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_ROW_UPDATE_H_
