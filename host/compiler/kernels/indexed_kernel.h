// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels for gather and dynamic_slice of a tensor in the unified buffer. One
// run writes the windows' addresses to a table; others walk over it with the
// vector unit's scalar load.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_INDEXED_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_INDEXED_KERNEL_H_

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Whether the node is a gather, a scatter or a dynamic slice or update with a
// kernel: here, in row_gather.h or scatter_kernel.h.
bool IsIndexed(const ir::Node& node);

// Like CompileNode, of a gather or dynamic_slice.
absl::StatusOr<KernelProgram> CompileIndexed(const ir::Node& node,
                                             const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_INDEXED_KERNEL_H_
