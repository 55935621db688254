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

#include "host/compiler/kernels/move_pieces.h"
#include "host/compiler/kernels/node_kind.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

using Nodes = std::vector<const ir::Node*>;

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

// Whether the node can be in a kernel with others.
bool IsFusable(const ir::Node& node, const NodeKinds& kinds);

// Into how many rows all values of these nodes are cut; 1: they are not.
int64_t RowsOf(const Nodes& nodes, const NodeKinds& kinds);

// Whether a fused node needs all of an operand for each row.
bool NeedsWhole(const ir::Node& node, int operand);

// One of `rows` rows of a broadcast; strides within a row of the result and,
// unless that is needed whole, of the operand.
Piece RowOfBroadcast(const ir::Node& node, int64_t rows);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_FUSION_H_
