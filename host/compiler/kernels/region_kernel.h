// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reductions by a region of several elementwise operations (such as the
// position of a maximum), element by element, for all results at once.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_REGION_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_REGION_KERNEL_H_

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"

namespace systole::lanes {

bool IsRegionReduction(const ir::Node& node);

// Like CompileNode; the program has a result for each result of the node.
absl::StatusOr<KernelProgram> CompileRegionReduction(const ir::Node& node,
                                                     const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_REGION_KERNEL_H_
