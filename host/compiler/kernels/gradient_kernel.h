// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernels of the gradients of depthwise kernels on the vector unit: bands of
// all images, of which each position is a term of each tap's sum.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_GRADIENT_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_GRADIENT_KERNEL_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Of a convolution that IsDepthwiseGradient (depthwise_shape.h).
// ResourceExhausted: no band fits the unified buffer.
absl::StatusOr<KernelProgram> CompileDepthwiseGradient(const ir::Node& node,
                                                       const Preset& preset,
                                                       int64_t origin = 0);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_GRADIENT_KERNEL_H_
