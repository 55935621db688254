// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Lowers windows that have no kernel.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_LOWERING_H_

#include <vector>

#include "host/ir/module.h"

namespace systole::lanes {

// Whether it becomes a chain of steps, not a loop.
bool IsWindowChain(const ir::Node& node);
// The results of a reduce_window with a liftable region (region_nodes.h), from
// nodes inserted before it.
std::vector<ir::Value> LowerWindow(ir::Module& module, ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_LOWERING_H_
