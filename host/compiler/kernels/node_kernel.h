// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels of single nodes: moves of elements, and reductions.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_NODE_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_NODE_KERNEL_H_

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Whether such nodes have a kernel and their sizes fit.
bool HasKernel(const ir::Node& node);

// Operands of the program: those of the node, then its results. Errors:
// ResourceExhausted (unified buffer).
absl::StatusOr<KernelProgram> CompileNode(const ir::Node& node,
                                          const Preset& preset,
                                          int64_t origin = 0);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_NODE_KERNEL_H_
