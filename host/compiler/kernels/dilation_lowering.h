// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Convolutions over a dilated input (transposed convolutions, and the gradients
// of inputs with strides) as convolutions over the input as it is.
//
// The positions of the result whose windows meet the same taps with elements
// form a phase. A phase is a convolution with a part of the kernel. Phases with
// as many taps are one convolution: each has output features of its own. Then
// the phases are interleaved.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_DILATION_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_DILATION_LOWERING_H_

#include <vector>

#include "host/ir/module.h"

namespace systole::lanes {

// Whether it is a convolution over a dilated input.
bool IsDilated(const ir::Node& node);

// Replaces the uses of such a node. Returns the new convolutions.
std::vector<ir::Node*> LowerDilated(ir::Module& module, ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_DILATION_LOWERING_H_
