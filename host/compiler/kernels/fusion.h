// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Which nodes become one kernel. A product of matrices takes along what follows
// it. Nodes that can be cut into rows join their
// operands' kernel if a row of all its values is small: elementwise nodes,
// reductions of dimensions behind the rows, broadcasts. Small values are not
// cut, so any of these and every move of elements can join.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_FUSION_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_FUSION_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "host/compiler/kernels/fusion_rows.h"
#include "host/compiler/kernels/node_kind.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Nodes of one kernel, in the order of the module, or one node of any kind.
struct Unit {
  Nodes nodes;
  // Those that other units that need them have as well: nothing leaves the
  // kernel.
  std::set<const ir::Node*> repeated;
};

// Units of one level do not depend on each other, only on those of lower ones.
std::map<int, std::vector<Unit>> Fuse(const ir::Module& module,
                                      const NodeKinds& kinds,
                                      const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_FUSION_H_
