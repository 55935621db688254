// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels for hlo.cholesky and hlo.triangular_solve.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_ELIMINATION_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_ELIMINATION_KERNEL_H_

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Whether this is one of the two, with f32.
bool IsElimination(const ir::Node& node);
// Operands of the program: those of the node, then its result. Errors:
// ResourceExhausted (unified buffer, runs).
absl::StatusOr<KernelProgram> CompileElimination(const ir::Node& node,
                                                 const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_ELIMINATION_KERNEL_H_
