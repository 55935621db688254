// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A window of few taps becomes a chain with one step per tap; a window of many
// taps becomes a loop over the taps. A step combines the values so far with the
// elements that the tap meets, for all windows at once.
#include "host/compiler/kernels/window_lowering.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "host/compiler/kernels/region_nodes.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using ir::ElementType;
using ir::Ints;
using ir::Node;
using ir::Op;
using ir::Type;
using ir::Value;
using Values = std::vector<Value>;

constexpr int64_t kMostSteps = 32;  // steps of a chain

class WindowLowering {
 public:
  WindowLowering(ir::Module& module, Node& node)
      : node_(node),
        a_(node.attr<ir::HloWindowAttributes>()),
        shape_(node.type.shape),
        outside_(module, &node, node.name + ".window"),
        count_(node.results()) {}

  Values Lower() {
    for (const int64_t size : a_.window) taps_ *= size;
    for (size_t d = 0; d < shape_.size(); ++d)
      spans_.push_back((shape_[d] - 1) * a_.stride[d] + 1);
    const auto rest = node_.operands.begin() + 2 * count_;
    captured_.assign(rest, node_.operands.end());
    Values sums, padded;
    for (size_t i = 0; i < count_; ++i) {
      padded.push_back(Padded(i));
      sums.push_back(outside_.Spread(node_.operands[count_ + i], shape_));
    }
    return taps_ <= kMostSteps ? Chain(sums, padded) : Loop(sums, padded);
  }

 private:
  Value Padded(size_t i) {
    const Value operand = node_.operands[i];
    Type type = operand.type();
    ir::HloPadAttributes padding{a_.low, a_.high, a_.base_dilation};
    for (size_t d = 0; d < shape_.size(); ++d) {
      --padding.interior[d];
      type.shape[d] = a_.low[d] + (type.shape[d] - 1) * a_.base_dilation[d] +
                      1 + a_.high[d];
    }
    if (type == operand.type() &&
        std::all_of(a_.low.begin(), a_.low.end(),
                    [](int64_t low) { return low == 0; }))
      return operand;
    return outside_.Make(Op::kHloPad, type,
                         {operand, node_.operands[count_ + i]}, padding);
  }

  Values Combined(RegionNodes& nodes, Values sums, const Values& elements,
                  const Values& captured) {
    sums.insert(sums.end(), elements.begin(), elements.end());
    for (const Value& value : captured)
      sums.push_back(nodes.Spread(value, shape_));
    return nodes.Lift(*node_.regions[0], shape_, sums);
  }

  Values Chain(Values sums, const Values& padded) {
    Ints tap(shape_.size(), 0);
    for (int64_t t = 0; t < taps_; ++t) {
      Values elements;
      for (const Value& value : padded) {
        ir::HloSliceAttributes slice{{}, {}, a_.stride};
        for (size_t d = 0; d < shape_.size(); ++d) {
          slice.start.push_back(tap[d] * a_.window_dilation[d]);
          slice.limit.push_back(slice.start[d] + spans_[d]);
        }
        elements.push_back(outside_.Make(
            Op::kHloSlice, {value.type().element, shape_, {}}, {value}, slice));
      }
      sums = Combined(outside_, sums, elements, captured_);
      ir::Advance(a_.window, tap);
    }
    return sums;
  }

  // The start of tap number `tap` along each dimension.
  Values PlaceOf(RegionNodes& nodes, Value tap) {
    Values place(shape_.size());
    int64_t inner = 1;
    for (size_t d = shape_.size(); d-- > 0;) {
      const int64_t size = a_.window[d];
      Value index = tap;
      if (size == 1) {
        index = nodes.Number(0);
      } else {
        if (inner > 1)
          index =
              nodes.Whole(Op::kHloDivide, index, static_cast<int32_t>(inner));
        if (inner * size < taps_)
          index =
              nodes.Whole(Op::kHloRemainder, index, static_cast<int32_t>(size));
        if (a_.window_dilation[d] > 1)
          index = nodes.Whole(Op::kHloMultiply, index,
                              static_cast<int32_t>(a_.window_dilation[d]));
      }
      place[d] = index;
      inner *= size;
    }
    return place;
  }

  Value Element(RegionNodes& nodes, Value padded, const Values& place) {
    Values operands = {padded};
    operands.insert(operands.end(), place.begin(), place.end());
    const ElementType element = padded.type().element;
    const Value span = nodes.Make(Op::kHloDynamicSlice, {element, spans_, {}},
                                  operands, ir::HloSizesAttributes{spans_});
    if (spans_ == shape_) return span;
    return nodes.Make(
        Op::kHloSlice, {element, shape_, {}}, {span},
        ir::HloSliceAttributes{Ints(shape_.size(), 0), spans_, a_.stride});
  }

  // One iteration per tap; it carries the number of the tap and the sums.
  Values Loop(const Values& sums, const Values& padded) {
    Values operands = {outside_.Number(0)};
    for (const Values& more : {sums, padded, captured_})
      operands.insert(operands.end(), more.begin(), more.end());
    Node loop{"", Op::kHloWhile, operands[0].type(), operands,
              ir::NoAttributes{}};
    for (size_t i = 0; i < count_; ++i)
      loop.more_types.push_back(sums[i].type());
    loop.location = node_.location;
    for (const bool body : {false, true}) {
      auto region = std::make_shared<ir::Module>();
      RegionNodes nodes(*region, nullptr, "v");
      Values inputs;
      for (const Value& operand : operands)
        inputs.push_back(nodes.Parameter(operand.type()));
      if (body) {
        Body(nodes, *region, inputs);
      } else {
        region->outputs.push_back(
            {"",
             nodes.Make(Op::kHloCompare, {ElementType::kBool, {}, {}},
                        {inputs[0], nodes.Number(static_cast<int32_t>(taps_))},
                        ir::HloCompareAttributes{ir::Direction::kLt,
                                                 ir::CompareType::kSigned})});
      }
      loop.regions.push_back(std::move(region));
    }
    const Value made = outside_.Add(std::move(loop));
    Values results;
    for (size_t i = 0; i < count_; ++i)
      results.emplace_back(made.node, static_cast<int>(i + 1));
    return results;
  }

  void Body(RegionNodes& nodes, ir::Module& region, const Values& inputs) {
    const auto begin = inputs.begin() + 1;
    const Values sums(begin, begin + count_);
    const Values captured(begin + 2 * count_, inputs.end());
    const Values place = PlaceOf(nodes, inputs[0]);
    Values elements;
    for (size_t i = 0; i < count_; ++i)
      elements.push_back(Element(nodes, *(begin + count_ + i), place));
    region.outputs.push_back({"", nodes.Whole(Op::kHloAdd, inputs[0], 1)});
    for (const Value& sum : Combined(nodes, sums, elements, captured))
      region.outputs.push_back({"", sum});
  }

  Node& node_;
  const ir::HloWindowAttributes& a_;
  const Ints& shape_;
  RegionNodes outside_;
  const size_t count_;
  int64_t taps_ = 1;
  Ints spans_;  // spans of all windows' elements of one tap
  Values captured_;
};

}  // namespace

bool IsWindowChain(const Node& node) {
  int64_t taps = 1;
  for (const int64_t size : node.attr<ir::HloWindowAttributes>().window) {
    if (size > kMostSteps / taps) return false;
    taps *= size;
  }
  return true;
}

Values LowerWindow(ir::Module& module, Node& node) {
  return WindowLowering(module, node).Lower();
}

}  // namespace systole::lanes
