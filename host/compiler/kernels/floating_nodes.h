// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Nodes that belong to no kernel of their own.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_FLOATING_NODES_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_FLOATING_NODES_H_

#include <set>

#include "host/compiler/kernels/node_kind.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Nodes that each kernel repeats which needs them: broadcasts, elementwise
// nodes that wait for their only reader, and values that are computed again
// rather than stored.
std::set<const ir::Node*> FloatingNodes(const ir::Module& module,
                                        const NodeKinds& kinds,
                                        const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_FLOATING_NODES_H_
