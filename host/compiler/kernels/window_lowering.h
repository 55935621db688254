// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Windows that no kernel walks over.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_LOWERING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_LOWERING_H_

#include <vector>

#include "host/ir/module.h"

namespace systole::lanes {

// What a reduce_window with a liftable region (region_nodes.h) gives, by nodes
// before it.
std::vector<ir::Value> LowerWindow(ir::Module& module, ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_LOWERING_H_
