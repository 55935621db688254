// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/region_lowering.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/compiler/kernels/associative_region.h"
#include "host/compiler/kernels/lane_bits.h"
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

// Elements that are few enough for one group; of a group at least; lanes that
// groups are to fill.
constexpr int64_t kShortLine = 16, kLeastGroup = 8, kLanes = 1024;
// Of the unified buffer, for an operand of words.
constexpr int64_t kPartOfTree = 4;

// Of each result of a reduction.
int64_t ElementsOf(const Node& node) {
  return node.operands[0].type().elements() / node.type.elements();
}

bool IsAtHand(int64_t elements, const Preset& preset) {
  return elements * kWord <=
         static_cast<int64_t>(preset.ub_bytes) / kPartOfTree;
}

// Whether neighbours are combined first: the levels of such a tree take all
// lanes. The larger ones go through the memory, in lines of whole beats; few
// elements at a time are better off one after the other then.
bool IsTree(const Node& node, const Preset& preset) {
  if (!IsAssociative(*node.regions[0])) return false;
  if (IsAtHand(node.operands[0].type().elements(), preset)) return true;
  const int64_t elements = ElementsOf(node);
  return elements > ir::kFoldGroup &&
         std::all_of(
             node.operands.begin(), node.operands.begin() + node.results(),
             [&](const Value& value) {
               return elements * ir::ElementBytes(value.type().element) %
                          preset.beat_bytes() ==
                      0;
             });
}

// A reduction in groups: each group is a line.
class Groups : private ProductNodes {
 public:
  Groups(ir::Module& module, Node& node, const Preset& preset)
      : ProductNodes(module, node),
        module_(module),
        node_(node),
        preset_(preset) {}

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
    Values results;
    if (IsTree(node_, preset_)) {
      Values first;
      for (size_t i = 0; i < count; ++i)
        first.push_back(Spread(node_.operands[count + i], {lines}));
      results = Both(first, Tree(std::move(values)), {lines});
    } else {
      while (values[0].type().shape[1] > ir::kFoldGroup) values = Level(values);
      results = Reduce(values);
    }
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

  // Reduces [lines, elements] of an associative region to [lines]. Neighbours
  // are combined first: all elements of an operand stay in their order.
  Values Tree(Values values) {
    const int64_t lines = values[0].type().shape[0];
    Values rest;  // the last elements, behind groups of as many
    while (values[0].type().shape[1] > 1) {
      const int64_t elements = values[0].type().shape[1];
      // Through the memory, groups are lines of whole beats.
      const int64_t beat =
          preset_.beat_bytes() / ir::ElementBytes(ShortestOf(values));
      const bool long_groups = !IsAtHand(lines * elements, preset_) &&
                               elements >= kLeastGroup * beat;
      const int64_t groups =
          elements <= kShortLine
              ? 1
              : std::clamp<int64_t>(
                    kLanes / lines, 1,
                    elements / (kLeastGroup * (long_groups ? beat : 1)));
      int64_t each = elements / groups;
      if (long_groups) each -= each % beat;
      const int64_t whole = groups * each;
      if (whole < elements) {
        const Values last = Tree(Part(values, whole, elements));
        rest = rest.empty() ? last : Both(last, rest, {lines});
        values = Part(values, 0, whole);
      }
      values = Halved(values, groups, each);
    }
    for (Value& value : values) value = Reshape(value, {lines});
    if (!rest.empty()) values = Both(values, rest, {lines});
    return values;
  }

  static ElementType ShortestOf(const Values& values) {
    ElementType shortest = values[0].type().element;
    for (const Value& value : values) {
      if (ir::ElementBytes(value.type().element) < ir::ElementBytes(shortest))
        shortest = value.type().element;
    }
    return shortest;
  }

  // Reduces [lines, groups * each] to [lines, groups], in rows of one element
  // of all groups.
  Values Halved(const Values& values, int64_t groups, int64_t each) {
    const int64_t lines = values[0].type().shape[0];
    const int64_t width = lines * groups;
    Values rows;
    for (const Value& value : values) {
      const ElementType element = value.type().element;
      rows.push_back(Make(Op::kHloTranspose, {element, {each, width}, {}},
                          {Reshape(value, {width, each})},
                          ir::TransposeAttributes{{1, 0}}));
    }
    for (int64_t count = each; count > 1; count = (count + 1) / 2) {
      const int64_t pairs = count / 2;
      Values next = Both(Rows(rows, 0, 2 * pairs, 2),
                         Rows(rows, 1, 2 * pairs, 2), {pairs, width});
      if (count % 2 == 1) {
        const Values last = Rows(rows, count - 1, count, 1);
        for (size_t i = 0; i < next.size(); ++i) {
          const ElementType element = next[i].type().element;
          next[i] = Make(Op::kHloConcatenate, {element, {pairs + 1, width}, {}},
                         {next[i], last[i]}, ir::HloDimensionAttributes{0});
        }
      }
      rows = std::move(next);
    }
    for (Value& row : rows) row = Reshape(row, {lines, groups});
    return rows;
  }

  Values Rows(const Values& values, int64_t first, int64_t end, int64_t step) {
    Values rows;
    for (const Value& value : values) {
      const Type& type = value.type();
      const int64_t width = type.shape[1];
      rows.push_back(Make(
          Op::kHloSlice,
          {type.element, {(end - first + step - 1) / step, width}, {}}, {value},
          ir::HloSliceAttributes{{first, 0}, {end, width}, {step, 1}}));
    }
    return rows;
  }

  // The region of all pairs.
  Values Both(const Values& kept, const Values& next, const Ints& shape) {
    Values parameters = kept;
    parameters.insert(parameters.end(), next.begin(), next.end());
    RegionNodes nodes(module_, &node_, node_.name + ".pairs");
    return nodes.Lift(*node_.regions[0], shape, parameters);
  }
  Value Spread(Value scalar, const Ints& shape) {
    return Make(Op::kHloBroadcastInDim, {scalar.type().element, shape, {}},
                {scalar}, ir::HloDimensionsAttributes{});
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
  const Preset& preset_;
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

bool IsLiftedRegion(const Node& node, const Preset& preset) {
  const size_t count = node.results();
  switch (node.op) {
    case Op::kHloMap:
      return AreLanes(node, node.operands.size()) &&
             IsLiftable(*node.regions[0]);
    case Op::kHloReduceWindow:
      // A kernel needs the operand in the unified buffer, the steps of a chain
      // do not.
      return AreLanes(node, count) && IsLiftable(*node.regions[0]) &&
             (!IsWindowed(node) ||
              (IsWindowChain(node) && !CompileWindowed(node, preset).ok()));
    case Op::kHloReduce:
      return node.operands.size() == 2 * count && AreLanes(node, count) &&
             (count > 1 || !ir::CombinerOf(*node.regions[0])) &&
             IsLiftable(*node.regions[0]) &&
             (ElementsOf(node) > ir::kFoldGroup ||
              (ElementsOf(node) > kShortLine && IsTree(node, preset)));
    default:
      return false;
  }
}

void LowerLiftedRegion(ir::Module& module, Node& node, const Preset& preset) {
  Values results;
  if (node.op == Op::kHloMap) {
    RegionNodes nodes(module, &node, node.name + ".map");
    results = nodes.Lift(*node.regions[0], node.type.shape, node.operands);
  } else if (node.op == Op::kHloReduceWindow) {
    results = LowerWindow(module, node);
  } else {
    results = Groups(module, node, preset).Lower();
  }
  for (size_t i = 0; i < results.size(); ++i)
    module.ReplaceUses(Value(&node, static_cast<int>(i)), results[i]);
}

}  // namespace systole::lanes
