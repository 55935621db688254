// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Windows along the innermost dimension (NCHW, as PyTorch has images) as
// windows along outer ones.
//
// Elements a stride apart fill a row of lanes one by one. With the dimensions
// that have no windows innermost, as in NHWC, whole rows lie side by side. The
// windowed dimensions keep their order, and so do the elements of each window:
// the result is the same to the bit.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_ORDER_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_ORDER_H_

#include "host/ir/hlo/attributes.h"
#include "host/ir/module.h"

namespace systole::lanes {

// The windows of an operand whose dimensions are in another order.
ir::HloWindowAttributes WindowOf(const ir::HloWindowAttributes& windows,
                                 const ir::Ints& order);

// Whether it is a reduce_window or select_and_scatter that gains by this.
bool HasInnerWindow(const ir::Node& node);

// Replaces the uses of such a node by those of the one that it returns, with
// transposes before and behind it.
ir::Node* MoveWindowOut(ir::Module& module, ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_ORDER_H_
