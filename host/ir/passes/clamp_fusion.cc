// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/passes/clamp_fusion.h"

#include <algorithm>

namespace systole::ir {
namespace {

template <typename Kind>
Ints* ClampIf(Node& node) {
  Kind* attributes = node.attributes.If<Kind>();
  return attributes ? &attributes->clamp : nullptr;
}

// The clamp of an operation that has one, or null.
Ints* ClampOf(Node& node) {
  for (const auto clamp_if :
       {ClampIf<ConvAttributes>, ClampIf<DenseAttributes>,
        ClampIf<PoolAttributes>, ClampIf<ClampAttributes>}) {
    if (Ints* clamp = clamp_if(node)) return clamp;
  }
  return nullptr;
}

// Fuses the first ReLU that can be fused. Returns whether there was one.
bool FuseOne(Module& module) {
  for (const auto& node : module.nodes()) {
    if (node->op != Op::kRelu) continue;
    Node* producer = node->operands[0];
    Ints* clamp = ClampOf(*producer);
    if (clamp == nullptr || producer->type != node->type ||
        module.Users(producer).size() != 1 || module.IsOutput(producer)) {
      continue;
    }
    const Ints& outer = node->attr<ClampAttributes>().clamp;
    for (int64_t& limit : *clamp) {
      limit = std::clamp(limit, outer[0], outer[1]);
    }
    module.ReplaceUses(node.get(), producer);
    module.RemoveUnused();
    return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<bool> ClampFusion::Run(Module& module) {
  bool changed = false;
  while (FuseOne(module)) changed = true;
  return changed;
}

}  // namespace systole::ir
