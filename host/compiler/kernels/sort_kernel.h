// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels for hlo.sort: a network of compare-exchanges.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_SORT_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_SORT_KERNEL_H_

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Whether the sort has a kernel: up to seven operands whose elements fit a
// lane, and a comparison of elementwise operations that reads nothing else.
bool IsSort(const ir::Node& node);
// Operands of the program: those of the node, then its results. Errors:
// ResourceExhausted (unified buffer, registers).
absl::StatusOr<KernelProgram> CompileSort(const ir::Node& node,
                                          const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_SORT_KERNEL_H_
