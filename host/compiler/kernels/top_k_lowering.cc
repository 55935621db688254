// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Words are compared as integers that have the order of the elements. An
// element is behind (key, place) if its key is smaller, or equal and its place
// larger. Whatever is not behind the last one found becomes the smallest key at
// a place that is none, so each element is found once, the equal ones in their
// order.
#include "host/compiler/kernels/top_k_lowering.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "host/compiler/kernels/product_nodes.h"
#include "host/compiler/kernels/region_lowering.h"
#include "host/compiler/kernels/region_nodes.h"
#include "host/ir/hlo/attributes.h"

namespace systole::lanes {
namespace {

using ir::ElementType;
using ir::Ints;
using ir::Node;
using ir::Op;
using ir::Value;

constexpr ElementType kI32 = ElementType::kInt32, kTruth = ElementType::kBool;
constexpr int64_t kMostFound = 64;
// Elements for each that is found, from which on a sort takes longer.
constexpr int64_t kTimes = 8;
constexpr int32_t kSmallest = std::numeric_limits<int32_t>::min();
constexpr int32_t kNoPlace = std::numeric_limits<int32_t>::max();

int64_t Last(const Node& sort) { return sort.type.rank() - 1; }

// Slices that use a result; null: something else does.
std::vector<Node*> SlicesOf(const ir::Module& module, const Node& sort) {
  for (const ir::Output& output : module.outputs) {
    if (output.node.node == &sort) return {};
  }
  std::vector<Node*> slices;
  for (const auto& node : module.nodes()) {
    const bool uses =
        std::any_of(node->operands.begin(), node->operands.end(),
                    [&](const Value& v) { return v.node == &sort; });
    if (!uses) continue;
    if (node->op != Op::kHloSlice) return {};
    const auto& a = node->attr<ir::HloSliceAttributes>();
    for (int64_t d = 0; d <= Last(sort); ++d) {
      if (a.start[d] != 0 || a.strides[d] != 1 ||
          (d < Last(sort) && a.limit[d] != sort.type.shape[d]))
        return {};
    }
    slices.push_back(node.get());
  }
  return slices;
}

int64_t FoundBy(const std::vector<Node*>& slices) {
  int64_t found = 0;
  for (const Node* slice : slices)
    found = std::max(found, slice->type.shape.back());
  return found;
}

// Whether the region says that the first operand's element is larger.
bool IsLarger(const Node& sort) {
  const ir::Module& region = *sort.regions[0];
  const Node& compare = *region.outputs[0].node.node;
  if (compare.op != Op::kHloCompare) return false;
  const std::vector<Node*> inputs = region.inputs();
  const auto& a = compare.attr<ir::HloCompareAttributes>();
  const bool total = a.type == ir::CompareType::kTotalOrder;
  return compare.operands[0].node == inputs[0] &&
         compare.operands[1].node == inputs[1] &&
         a.direction == ir::Direction::kGt &&
         (sort.type.element == ElementType::kFloat32 ? total : !total);
}

class TopK : private ProductNodes {
 public:
  TopK(ir::Module& module, Node& sort)
      : ProductNodes(module, sort),
        module_(module),
        sort_(sort),
        elements_(sort.type.shape.back()),
        lines_(sort.type.elements() / elements_) {}

  const std::vector<Node*>& reduces() const { return reduces_; }

  void Lower() {
    const std::vector<Node*> slices = SlicesOf(module_, sort_);
    const int64_t found = FoundBy(slices);
    const Ints all = {lines_, elements_};
    const Value keys = Ordered(Reshape(Words(sort_.operands[0]), all));
    const Value places = Reshape(sort_.operands[1], all);
    std::vector<Value> first, at;  // [lines, 1] each
    for (int64_t i = 0; i < found; ++i) {
      Value key = keys, place = places;
      if (i > 0) {
        const Value behind = Behind(keys, places, first.back(), at.back());
        key = Select(behind, keys, Number(kI32, kSmallest, all));
        place = Select(behind, places, Number(kI32, kNoPlace, all));
      }
      const auto [largest, its_place] = Largest(key, place);
      first.push_back(Reshape(largest, {lines_, 1}));
      at.push_back(Reshape(its_place, {lines_, 1}));
    }
    Value values = Ordered(Joined(first));  // its own inverse
    if (sort_.type.element != kI32)
      values = Make(Op::kHloBitcastConvert,
                    {sort_.type.element, values.type().shape, {}}, {values});
    const Value results[] = {values, Joined(at)};
    for (Node* slice : slices)
      module_.ReplaceUses(Value(slice), Front(results[slice->operands[0].index],
                                              slice->type.shape));
  }

 private:
  Value Words(Value value) {
    if (value.type().element == kI32) return value;
    return Make(Op::kHloBitcastConvert, {kI32, value.type().shape, {}},
                {value});
  }
  // Integers in the order of floats that have these bits.
  Value Ordered(Value words) {
    if (sort_.type.element == kI32) return words;
    const ir::Type type = words.type();
    const Value sign = Make(Op::kHloShiftRightArithmetic, type,
                            {words, Number(kI32, 31, type.shape)});
    const Value rest =
        Make(Op::kHloAnd, type, {sign, Number(kI32, kNoPlace, type.shape)});
    return Make(Op::kHloXor, type, {words, rest});
  }

  Value Compare(Value a, Value b, ir::Direction direction) {
    return Make(Op::kHloCompare, {kTruth, a.type().shape, {}}, {a, b},
                ir::HloCompareAttributes{direction, ir::CompareType::kDefault});
  }
  Value Select(Value which, Value a, Value b) {
    return Make(Op::kHloSelect, a.type(), {which, a, b});
  }
  Value Behind(Value keys, Value places, Value key, Value place) {
    const Ints& shape = keys.type().shape;
    const auto spread = [&](Value value) {
      return Make(Op::kHloBroadcastInDim, {kI32, shape, {}},
                  {Reshape(value, {lines_})}, ir::HloDimensionsAttributes{{0}});
    };
    const Value here = spread(key);
    const ir::Type truth = {kTruth, shape, {}};
    const Value later = Compare(places, spread(place), ir::Direction::kGt);
    const Value equal = Compare(keys, here, ir::Direction::kEq);
    return Make(Op::kHloOr, truth,
                {Compare(keys, here, ir::Direction::kLt),
                 Make(Op::kHloAnd, truth, {equal, later})});
  }

  // The largest key of each line, the one with the smallest place, and that.
  std::pair<Value, Value> Largest(Value keys, Value places) {
    Node reduce;
    reduce.name = module_.UniqueName(sort_.name + ".largest");
    reduce.op = Op::kHloReduce;
    reduce.type = {kI32, {lines_}, {}};
    reduce.more_types = {reduce.type};
    reduce.operands = {keys, places, Number(kI32, kSmallest, {}),
                       Number(kI32, kNoPlace, {})};
    reduce.attributes = ir::HloDimensionsAttributes{{1}};
    reduce.regions = {Region()};
    reduce.location = sort_.location;
    const Value made = module_.InsertBefore(&sort_, std::move(reduce));
    reduces_.push_back(made.node);
    return {Value(made.node, 0), Value(made.node, 1)};
  }
  static std::shared_ptr<const ir::Module> Region() {
    auto region = std::make_shared<ir::Module>();
    RegionNodes nodes(*region, nullptr, "largest");
    std::vector<Value> p;
    for (int i = 0; i < 4; ++i) p.push_back(nodes.Parameter({kI32, {}, {}}));
    const auto compare = [&](Value a, Value b, ir::Direction direction) {
      return nodes.Make(
          Op::kHloCompare, {kTruth, {}, {}}, {a, b},
          ir::HloCompareAttributes{direction, ir::CompareType::kDefault});
    };
    const ir::Type truth = {kTruth, {}, {}}, word = {kI32, {}, {}};
    const Value more = compare(p[0], p[2], ir::Direction::kGt);
    const Value same = compare(p[0], p[2], ir::Direction::kEq);
    const Value before = compare(p[1], p[3], ir::Direction::kLt);
    const Value tie = nodes.Make(Op::kHloAnd, truth, {same, before});
    const Value keep = nodes.Make(Op::kHloOr, truth, {more, tie});
    const Value key = nodes.Make(Op::kHloSelect, word, {keep, p[0], p[2]});
    const Value place = nodes.Make(Op::kHloSelect, word, {keep, p[1], p[3]});
    region->outputs = {{"", key}, {"", place}};
    return region;
  }

  Value Joined(const std::vector<Value>& columns) {
    const auto count = static_cast<int64_t>(columns.size());
    if (count == 1) return columns[0];
    return Make(Op::kHloConcatenate, {kI32, {lines_, count}, {}}, columns,
                ir::HloDimensionAttributes{1});
  }
  // The first columns, in this shape.
  Value Front(Value value, const Ints& shape) {
    const Ints part = {lines_, shape.back()};
    if (part != value.type().shape)
      value = Make(Op::kHloSlice, {value.type().element, part, {}}, {value},
                   ir::HloSliceAttributes{{0, 0}, part, {1, 1}});
    return Reshape(value, shape);
  }

  ir::Module& module_;
  Node& sort_;
  const int64_t elements_, lines_;
  std::vector<Node*> reduces_;
};

}  // namespace

bool IsTopK(const ir::Module& module, const Node& sort) {
  if (sort.op != Op::kHloSort || sort.results() != 2 ||
      sort.type.elements() == 0 || sort.type.rank() == 0)
    return false;
  const int64_t d = sort.attr<ir::HloSortAttributes>().dimension;
  const Value& places = sort.operands[1];
  if ((d != Last(sort) && d != -1) ||
      (sort.type.element != ElementType::kFloat32 &&
       sort.type.element != kI32) ||
      places->op != Op::kHloIota || places.type().element != kI32 ||
      places->attr<ir::HloDimensionAttributes>().dimension != Last(sort) ||
      !IsLarger(sort))
    return false;
  const int64_t found = FoundBy(SlicesOf(module, sort));
  return found > 0 && found <= kMostFound &&
         found * kTimes <= sort.type.shape.back();
}

void LowerTopK(ir::Module& module, Node& sort, const Preset& preset) {
  TopK top(module, sort);
  top.Lower();
  for (Node* reduce : top.reduces()) {
    if (IsLiftedRegion(*reduce, preset))
      LowerLiftedRegion(module, *reduce, preset);
  }
}

}  // namespace systole::lanes
