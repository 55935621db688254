// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A product of matrices with a wide result, such as the scores of a vocabulary:
// in bands of columns. Of each band the right matrix stays in the unified
// buffer while all lines pass, so that it is loaded once.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_WIDE_PRODUCT_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_WIDE_PRODUCT_H_

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"

namespace systole::lanes {

// Like CompileProduct. ResourceExhausted: bands would begin within a beat, or
// do not fit.
absl::StatusOr<KernelProgram> CompileWideProduct(const ir::Node& node,
                                                 const Preset& preset,
                                                 int64_t origin = 0);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_WIDE_PRODUCT_H_
