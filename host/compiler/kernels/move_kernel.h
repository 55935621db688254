// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs of moves: parts of the result, one after the other. While the vector
// unit copies one part, the DMA units load the next one and store the one
// before.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_MOVE_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_MOVE_KERNEL_H_

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Operands of the program: those of the node (IsMove), then its result. Errors:
// ResourceExhausted (unified buffer, instruction memory).
absl::StatusOr<KernelProgram> CompileMove(const ir::Node& node,
                                          const Preset& preset,
                                          int64_t origin = 0);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_MOVE_KERNEL_H_
