// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels for gather, scatter, dynamic_slice and dynamic_update_slice, whose
// addresses depend on data. One kernel writes the windows' addresses to a
// table; others walk over it with the vector unit's scalar load.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_INDEXED_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_INDEXED_KERNEL_H_

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// A scatter must combine with one operation, or replace.
bool IsIndexed(const ir::Node& node);

// Like CompileNode.
absl::StatusOr<KernelProgram> CompileIndexed(const ir::Node& node,
                                             const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_INDEXED_KERNEL_H_
