// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Products of bf16 matrices on the array, from HBM to HBM. Matrices are
// contiguous, row by row.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_KERNEL_H_

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Compiles a hlo.matrix_product. Operands of the program: both matrices and the
// product. Errors: ResourceExhausted: the unified buffer cannot hold what the
// array needs at a time (two strips of the right matrix, some lines of the left
// one and of the product).
absl::StatusOr<KernelProgram> CompileProduct(const ir::Node& node,
                                             const Preset& preset,
                                             int64_t origin = 0);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_KERNEL_H_
