// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The stages of a fused kernel for nodes of a module.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_FUSED_NODES_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_FUSED_NODES_H_

#include <functional>
#include <set>
#include <vector>

#include "host/compiler/kernels/fused_kernel.h"
#include "host/compiler/kernels/fusion.h"
#include "host/compiler/kernels/node_kind.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

struct FusedNodes {
  FusedSpec spec;
  std::vector<int> inputs, outputs;  // slots of the program's operands
  std::vector<Nodes> stages;         // their nodes, in the order of the stages
};

// Where values lie (device_plan.h).
struct ValueSlots {
  std::function<int(const ir::Value&)> of;
  // The same for a value that a program loads.
  std::function<int(const ir::Value&)> load;
  // The nodes that need a slot; null: the module's results.
  std::function<std::set<const ir::Node*>(int slot)> users;
};

// The nodes must be fusable. by_rows: where lines fill rows of lanes, a
// broadcast of one element to each line is one element for each row of lanes.
FusedNodes StagesOf(const Unit& unit, NodeKinds& kinds, const ValueSlots& slots,
                    const Preset& preset, bool by_rows);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_FUSED_NODES_H_
