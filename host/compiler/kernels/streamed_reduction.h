// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernel of a reduction of [count][inner] elements to [inner], whose first
// levels are reduced while the elements are loaded. Only what these leave must
// fit the unified buffer.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_STREAMED_REDUCTION_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_STREAMED_REDUCTION_H_

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Whether this is the way for a reduction by one operation: one line, large, of
// which neither bands nor lines are whole beats.
bool IsStreamed(const ir::Node& node, const Preset& preset);

// Operands of the program: those of the node, then its result. Errors:
// ResourceExhausted (unified buffer, instruction memory).
absl::StatusOr<KernelProgram> CompileStreamedReduction(const ir::Node& node,
                                                       const Preset& preset,
                                                       int64_t origin = 0);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_STREAMED_REDUCTION_H_
