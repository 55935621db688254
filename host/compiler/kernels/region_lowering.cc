// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/region_lowering.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/compiler/kernels/lane_graph.h"
#include "host/compiler/kernels/product_nodes.h"
#include "host/compiler/kernels/region_nodes.h"
#include "host/compiler/kernels/window_kernel.h"
#include "host/compiler/kernels/window_lowering.h"
#include "host/ir/hlo/fold.h"

namespace systole::lanes {
namespace {

using ir::ElementType;
using ir::Ints;
using ir::Node;
using ir::Op;
using ir::Type;
using ir::Value;
using Values = std::vector<Value>;

// A reduction in groups: each group is a line.
class Groups : private ProductNodes {
 public:
  Groups(ir::Module& module, Node& node)
      : ProductNodes(module, node), module_(module), node_(node) {}

  Values Lower() {
    const size_t count = node_.results();
    const Ints& shape = node_.operands[0].type().shape;
    const Ints& reduced = node_.attr<ir::HloDimensionsAttributes>().dimensions;
    Ints order, sizes;
    for (const bool last : {false, true}) {
      for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
        if ((std::count(reduced.begin(), reduced.end(), d) > 0) == last)
          order.push_back(d);
      }
    }
    for (const int64_t d : order) sizes.push_back(shape[d]);
    const int64_t lines = node_.type.elements();
    Values values;
    for (size_t i = 0; i < count; ++i) {
      Value value = node_.operands[i];
      if (!std::is_sorted(order.begin(), order.end()))
        value = Make(Op::kHloTranspose, {value.type().element, sizes, {}},
                     {value}, ir::TransposeAttributes{order});
      values.push_back(
          Reshape(value, {lines, value.type().elements() / lines}));
    }
    while (values[0].type().shape[1] > ir::kFoldGroup) values = Level(values);
    Values results = Reduce(values);
    for (Value& result : results) result = Reshape(result, node_.type.shape);
    return results;
  }

 private:
  // Reduces [lines, elements] to [lines].
  Values Reduce(Values values) {
    Node reduce = node_;
    reduce.name = module_.UniqueName(node_.name + ".groups");
    reduce.operands = values;
    reduce.operands.insert(reduce.operands.end(),
                           node_.operands.begin() + node_.results(),
                           node_.operands.end());
    const Ints shape = {values[0].type().shape[0]};
    reduce.type.shape = shape;
    for (Type& type : reduce.more_types) type.shape = shape;
    reduce.attributes = ir::HloDimensionsAttributes{{1}};
    const Value made = module_.InsertBefore(&node_, std::move(reduce));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = Value(made.node, static_cast<int>(i));
    return values;
  }

  Values Part(const Values& values, int64_t begin, int64_t end) {
    Values parts;
    for (const Value& value : values) {
      const Type& type = value.type();
      const int64_t lines = type.shape[0];
      parts.push_back(
          Make(Op::kHloSlice, {type.element, {lines, end - begin}, {}}, {value},
               ir::HloSliceAttributes{{0, begin}, {lines, end}, {1, 1}}));
    }
    return parts;
  }

  Values Level(const Values& values) {
    const int64_t lines = values[0].type().shape[0];
    const int64_t elements = values[0].type().shape[1];
    const int64_t groups = elements / ir::kFoldGroup;
    const int64_t whole = groups * ir::kFoldGroup;
    Values first = whole == elements ? values : Part(values, 0, whole);
    for (Value& value : first)
      value = Reshape(value, {lines * groups, ir::kFoldGroup});
    first = Reduce(first);
    for (Value& value : first) value = Reshape(value, {lines, groups});
    if (whole == elements) return first;
    const Values last = Reduce(Part(values, whole, elements));
    for (size_t i = 0; i < first.size(); ++i) {
      const ElementType element = first[i].type().element;
      first[i] = Make(Op::kHloConcatenate, {element, {lines, groups + 1}, {}},
                      {first[i], Reshape(last[i], {lines, 1})},
                      ir::HloDimensionAttributes{1});
    }
    return first;
  }

  ir::Module& module_;
  Node& node_;
};

bool AreLanes(const Node& node, size_t first) {
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const Type& type = node.operands[i].type();
    if (!FitsLane(type.element) || type.elements() == 0 ||
        (i >= first && !type.shape.empty()))
      return false;
  }
  return node.type.elements() > 0;
}

}  // namespace

bool IsLiftedRegion(const Node& node) {
  const size_t count = node.results();
  switch (node.op) {
    case Op::kHloMap:
      return AreLanes(node, node.operands.size()) &&
             IsLiftable(*node.regions[0]);
    case Op::kHloReduceWindow:
      return AreLanes(node, count) && IsLiftable(*node.regions[0]) &&
             !IsWindowed(node);
    case Op::kHloReduce:
      return node.operands.size() == 2 * count && AreLanes(node, count) &&
             (count > 1 || !ir::CombinerOf(*node.regions[0])) &&
             node.operands[0].type().elements() / node.type.elements() >
                 ir::kFoldGroup &&
             IsLiftable(*node.regions[0]);
    default:
      return false;
  }
}

void LowerLiftedRegion(ir::Module& module, Node& node) {
  Values results;
  if (node.op == Op::kHloMap) {
    RegionNodes nodes(module, &node, node.name + ".map");
    results = nodes.Lift(*node.regions[0], node.type.shape, node.operands);
  } else if (node.op == Op::kHloReduceWindow) {
    results = LowerWindow(module, node);
  } else {
    results = Groups(module, node).Lower();
  }
  for (size_t i = 0; i < results.size(); ++i)
    module.ReplaceUses(Value(&node, static_cast<int>(i)), results[i]);
}

}  // namespace systole::lanes
