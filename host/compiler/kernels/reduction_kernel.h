// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reductions with one operation, in the order of docs/hlo.md. A level of the
// tree is an elementwise operation on two halves of the data in the unified
// buffer.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_REDUCTION_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_REDUCTION_KERNEL_H_

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"

namespace systole::lanes {

bool IsReduction(const ir::Node& node);

// Like CompileNode.
absl::StatusOr<KernelProgram> CompileReduction(const ir::Node& node,
                                               const Preset& preset,
                                               int64_t origin = 0);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_REDUCTION_KERNEL_H_
