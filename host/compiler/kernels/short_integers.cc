// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/short_integers.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "host/compiler/kernels/product_nodes.h"
#include "host/ir/hlo/fold.h"

namespace systole::lanes {
namespace {

using ir::ElementType;
using ir::Node;
using ir::Op;
using ir::Value;

bool IsShort(ElementType type) {
  return type == ElementType::kInt16 || type == ElementType::kUint16;
}

ElementType WordOf(ElementType type) {
  return ir::IsSigned(type) ? ElementType::kInt32 : ElementType::kUint32;
}

bool Combines(const Node& node) {
  switch (node.op) {
    case Op::kHloReduce:
    case Op::kHloReduceWindow:
    case Op::kHloScatter:
      return node.results() == 1 && IsShort(node.type.element) &&
             ir::CombinerOf(*node.regions[0]).has_value();
    case Op::kHloSelectAndScatter:
      return IsShort(node.type.element) &&
             node.regions[0]->nodes().size() == 3 &&
             ir::CombinerOf(*node.regions[1]).has_value();
    default:
      return false;
  }
}

// The range of operands that are indices.
std::pair<size_t, size_t> IndicesOf(const Node& node) {
  switch (node.op) {
    case Op::kHloGather:
      return {1, 2};
    case Op::kHloScatter: {
      const size_t operands = (node.operands.size() - 1) / 2;
      return {operands, operands + 1};
    }
    case Op::kHloDynamicSlice:
      return {1, node.operands.size()};
    case Op::kHloDynamicUpdateSlice:
      return {2, node.operands.size()};
    default:
      return {0, 0};
  }
}

// The same region on words.
std::shared_ptr<const ir::Module> Widened(const ir::Module& region) {
  std::shared_ptr<ir::Module> copy = region.Clone();
  for (const auto& node : copy->nodes()) {
    if (IsShort(node->type.element))
      node->type.element = WordOf(node->type.element);
  }
  return copy;
}

class Widening : private ProductNodes {
 public:
  Widening(ir::Module& module, Node& node)
      : ProductNodes(module, node), module_(module), node_(node) {}

  void Indices() {
    const auto [first, end] = IndicesOf(node_);
    for (size_t i = first; i < end; ++i) Widen(node_.operands[i]);
  }
  // The node itself is left without a user.
  void Combination() {
    Node wide = node_;
    wide.name = module_.UniqueName(node_.name + ".words");
    wide.type.element = WordOf(node_.type.element);
    for (Value& operand : wide.operands) Widen(operand);
    for (auto& region : wide.regions) region = Widened(*region);
    const Value result = module_.InsertBefore(&node_, std::move(wide));
    module_.ReplaceUses(&node_, Convert(result, node_.type.element));
  }

 private:
  void Widen(Value& value) {
    const ElementType type = value.type().element;
    if (IsShort(type)) value = Convert(value, WordOf(type));
  }

  ir::Module& module_;
  Node& node_;
};

}  // namespace

bool TakesShorts(const Node& node) {
  const auto [first, end] = IndicesOf(node);
  for (size_t i = first; i < end; ++i) {
    if (IsShort(node.operands[i].type().element)) return true;
  }
  return Combines(node);
}

void WidenShorts(ir::Module& module, Node& node) {
  Widening widening(module, node);
  widening.Indices();
  if (Combines(node)) widening.Combination();
}

}  // namespace systole::lanes
