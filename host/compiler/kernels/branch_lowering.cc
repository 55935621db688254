// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/branch_lowering.h"

#include <vector>

#include "host/compiler/kernels/lane_graph.h"
#include "host/compiler/kernels/node_kind.h"
#include "host/compiler/kernels/product_nodes.h"

namespace systole::lanes {
namespace {

using ir::ElementType;
using ir::Node;
using ir::Op;
using ir::Type;
using ir::Value;

// Over all branches.
constexpr int64_t kMostNodes = 64, kMostElements = 1 << 16;

class Branches : private ProductNodes {
 public:
  Branches(ir::Module& module, Node& node)
      : ProductNodes(module, node), module_(module), node_(node) {}

  void Lower() {
    const Value which = node_.operands[0];
    std::vector<Value> results = Of(*node_.regions.back());
    // The last branch is also taken for numbers without a branch.
    for (size_t i = node_.regions.size() - 1; i-- > 0;) {
      const std::vector<Value> chosen = Of(*node_.regions[i]);
      const Value here = node_.op == Op::kHloIf ? which : Equals(which, i);
      for (size_t r = 0; r < results.size(); ++r) {
        if (results[r] == chosen[r]) continue;
        results[r] = Make(Op::kHloSelect, chosen[r].type(),
                          {here, chosen[r], results[r]});
      }
    }
    for (int r = 0; r < node_.results(); ++r)
      module_.ReplaceUses(Value(&node_, r), results[r]);
  }

 private:
  Value Equals(Value which, size_t branch) {
    const Value number =
        Number(which.type().element, static_cast<int32_t>(branch), {});
    return Make(Op::kHloCompare, {ElementType::kBool, {}, {}}, {which, number},
                ir::HloCompareAttributes{ir::Direction::kEq,
                                         ir::CompareType::kDefault});
  }

  std::vector<Value> Of(const ir::Module& branch) {
    return Inlined(branch, {node_.operands.begin() + 1, node_.operands.end()});
  }

  ir::Module& module_;
  Node& node_;
};

}  // namespace

bool IsCheapBranch(const Node& node) {
  if (node.op != Op::kHloIf && node.op != Op::kHloCase) return false;
  for (int i = 0; i < node.results(); ++i) {
    // A selection replaces all NaNs with one.
    if (HasOneNan(node.result_type(i).element) ||
        !FitsLane(node.result_type(i).element))
      return false;
  }
  int64_t nodes = 0, elements = 0;
  for (const auto& region : node.regions) {
    const NodeKinds kinds(*region);
    for (const auto& inside : region->nodes()) {
      if (kinds.Of(*inside) > NodeKind::kElementwise) return false;
      if (kinds.Of(*inside) != NodeKind::kElementwise) continue;
      ++nodes;
      elements += inside->type.elements();
    }
  }
  return nodes <= kMostNodes && elements <= kMostElements;
}

void LowerBranch(ir::Module& module, Node& node) {
  Branches(module, node).Lower();
}

}  // namespace systole::lanes
