// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels for scatter and dynamic_update_slice. Bands of the operand pass
// through the unified buffer. In each, the vector unit walks over a table of
// the windows' addresses, skips those of other bands, and replaces or combines
// elements.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_SCATTER_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_SCATTER_KERNEL_H_

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Like CompileNode, of a node with a kernel (IsIndexed) that writes windows.
// ResourceExhausted: updates or starts do not fit the unified buffer, or the
// operand has 2 GB or more.
absl::StatusOr<KernelProgram> CompileScatter(const ir::Node& node,
                                             const Preset& preset,
                                             int64_t origin);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_SCATTER_KERNEL_H_
