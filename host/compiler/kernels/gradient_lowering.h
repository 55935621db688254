// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Gradients of depthwise kernels, convolutions in batch groups, in the form
// that the vector unit computes:
//
//   convolution -> convert, strided, convolution that IsDepthwiseGradient
//                  (depthwise_shape.h), strided
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_GRADIENT_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_GRADIENT_LOWERING_H_

#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Replaces a convolution of bf16 or f32 in groups of one image each, of one
// pass, in all its uses with a bit-exact equivalent, if it has a kernel on the
// vector unit. Returns whether it has.
bool LowerDepthwiseGradient(ir::Module& module, ir::Node& node,
                            const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_GRADIENT_LOWERING_H_
