// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/window_order.h"

#include <utility>
#include <vector>

#include "host/compiler/kernels/region_nodes.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using ir::Ints;
using ir::Node;
using ir::Op;
using ir::Permuted;
using ir::Type;
using ir::Value;

bool IsWindow(const Node& node) {
  return node.op == Op::kHloReduceWindow || node.op == Op::kHloSelectAndScatter;
}

// The operands that have the dimensions of the windows; the others are scalars.
int ArraysOf(const Node& node) {
  return node.op == Op::kHloReduceWindow ? node.results() : 2;
}

bool HasWindow(const ir::HloWindowAttributes& a, size_t d) {
  return a.window[d] != 1 || a.stride[d] != 1 || a.base_dilation[d] != 1 ||
         a.low[d] != 0 || a.high[d] != 0;
}

// Dimensions with windows, then those without; both keep their order.
Ints OrderOf(const ir::HloWindowAttributes& a) {
  Ints order;
  for (const bool windowed : {true, false}) {
    for (size_t d = 0; d < a.window.size(); ++d)
      if (HasWindow(a, d) == windowed) order.push_back(static_cast<int64_t>(d));
  }
  return order;
}

}  // namespace

ir::HloWindowAttributes WindowOf(const ir::HloWindowAttributes& windows,
                                 const Ints& order) {
  return {Permuted(windows.window, order),
          Permuted(windows.stride, order),
          Permuted(windows.base_dilation, order),
          Permuted(windows.window_dilation, order),
          Permuted(windows.low, order),
          Permuted(windows.high, order)};
}

bool HasInnerWindow(const Node& node) {
  if (!IsWindow(node)) return false;
  const auto& a = node.attr<ir::HloWindowAttributes>();
  const Ints& shape = node.operands[0].type().shape;
  size_t inner = shape.size();
  while (inner > 0 && shape[inner - 1] == 1 && !HasWindow(a, inner - 1))
    --inner;
  if (inner == 0 || !HasWindow(a, inner - 1)) return false;
  int64_t without = 1;
  for (size_t d = 0; d < shape.size(); ++d)
    if (!HasWindow(a, d)) without *= shape[d];
  const bool apart =
      a.stride[inner - 1] != 1 || a.base_dilation[inner - 1] != 1;
  return without > (apart ? 1 : shape[inner - 1]);
}

Node* MoveWindowOut(ir::Module& module, Node& node) {
  const auto& a = node.attr<ir::HloWindowAttributes>();
  const Ints order = OrderOf(a), back = ir::InverseOf(order);
  RegionNodes nodes(module, &node, node.name + ".order");
  const auto transposed = [&](const Value& value, const Ints& by) {
    return nodes.Make(
        Op::kHloTranspose,
        {value.type().element, Permuted(value.type().shape, by), {}}, {value},
        ir::TransposeAttributes{by});
  };
  Node moved = node;
  moved.name = module.UniqueName(node.name);
  for (int i = 0; i < ArraysOf(node); ++i)
    moved.operands[i] = transposed(node.operands[i], order);
  moved.attributes = WindowOf(a, order);
  moved.type.shape = Permuted(node.type.shape, order);
  for (Type& type : moved.more_types) type.shape = Permuted(type.shape, order);
  Node* const result = module.InsertBefore(&node, std::move(moved));
  for (int i = 0; i < node.results(); ++i) {
    module.ReplaceUses(Value(&node, i), transposed(Value(result, i), back));
  }
  return result;
}

}  // namespace systole::lanes
