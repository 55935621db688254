// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels of reduce_window: passes over all windows, each of which combines up
// to 16 elements of every window, in their order.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_REDUCTION_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_REDUCTION_H_

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Of a reduce_window that IsWindowed. ResourceExhausted: operand, padding and
// result do not fit into the unified buffer.
absl::StatusOr<KernelProgram> CompileWindowReduction(const ir::Node& node,
                                                     const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_REDUCTION_H_
