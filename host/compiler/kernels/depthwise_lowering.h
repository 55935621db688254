// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Convolutions in groups of few features as depthwise convolutions, which the
// vector unit computes:
//
//   convolution -> strided, reshape, convolution that IsDepthwise
//                  (depthwise_shape.h), strided
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_LOWERING_H_

#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Replaces a convolution over groups of bf16 or f32 features in all its uses
// with a bit-exact equivalent, if it has a kernel on the vector unit that is
// expected to be faster than the array. Returns whether it has.
bool LowerDepthwise(ir::Module& module, ir::Node& node, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_DEPTHWISE_LOWERING_H_
