// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Images with channels before their positions (NCHW, as PyTorch and ONNX have
// them) as images with channels last, in which rows of lanes are channels.
//
//   conv(x)            -> back(conv'(last(x)))
//   relu(back(y))      -> back(relu(y))
//   back(x) + back(y)  -> back(x + y)
//   last(back(y))      -> y
//
// Only operations whose results keep their bits are moved: elements are
// computed as before, and reductions and windows meet them in the same order.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_IMAGE_LAYOUT_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_IMAGE_LAYOUT_H_

#include "host/ir/module.h"

namespace systole::lanes {

// Changes convolutions with channels second and what follows from them. Regions
// stay as they are.
void MoveChannelsLast(ir::Module& module);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_IMAGE_LAYOUT_H_
