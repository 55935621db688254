// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels of single nodes: moves of elements, reductions.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_NODE_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_NODE_KERNEL_H_

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Whether there is a kernel for such nodes, of sizes that fit.
bool HasKernel(const ir::Node& node);

// Operands of the program: those of the node, then its results. Errors:
// ResourceExhausted (the unified buffer).
absl::StatusOr<KernelProgram> CompileNode(const ir::Node& node,
                                          const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_NODE_KERNEL_H_
