// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels of depthwise convolutions on the vector unit: blocks of images or of
// bands of their lines, two of which take turns in the unified buffer, padding
// included.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_KERNEL_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Of a convolution that IsDepthwise (depthwise_shape.h). ResourceExhausted: no
// block fits the unified buffer, or the taps do not fit the instruction memory.
absl::StatusOr<KernelProgram> CompileDepthwise(const ir::Node& node,
                                               const Preset& preset,
                                               int64_t origin = 0);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_KERNEL_H_
