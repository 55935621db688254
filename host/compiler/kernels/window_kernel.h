// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels of reduce_window (window_reduction.h) and of select_and_scatter: one
// pass over all windows for each tap.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_KERNEL_H_

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Whether the node has one result and regions of one operation.
bool IsWindowed(const ir::Node& node);

// Like CompileNode.
absl::StatusOr<KernelProgram> CompileWindowed(const ir::Node& node,
                                              const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_KERNEL_H_
