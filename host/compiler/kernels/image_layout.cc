// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/image_layout.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "host/compiler/kernels/region_nodes.h"
#include "host/compiler/kernels/window_order.h"
#include "host/ir/hlo/tree.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using ir::Attributes;
using ir::Ints;
using ir::InverseOf;
using ir::Node;
using ir::Op;
using ir::Permuted;
using ir::Value;
using Values = std::vector<Value>;

// A broadcast value that is at most this part of the result is transposed for
// it.
constexpr int64_t kSmallPart = 8;

bool IsIdentity(const Ints& order) {
  return std::is_sorted(order.begin(), order.end());
}

// Batch and channels, then the positions.
bool HasChannelsSecond(int64_t batch, int64_t feature, const Ints& spatial) {
  if (batch != 0 || feature != 1 || spatial.empty()) return false;
  for (size_t i = 0; i < spatial.size(); ++i)
    if (spatial[i] != static_cast<int64_t>(i) + 2) return false;
  return true;
}

class ImageLayout {
 public:
  explicit ImageLayout(ir::Module& module) : module_(module) {}

  void Move() {
    std::vector<Node*> nodes;
    for (const auto& node : module_.nodes()) nodes.push_back(node.get());
    for (Node* node : nodes) {
      if (node->op == Op::kHloConvolution) {
        MoveConvolution(*node);
      } else if (!made_.empty()) {
        MoveOther(*node);
      }
    }
    if (!made_.empty()) module_.RemoveUnused();
  }

 private:
  // A value in another order of its dimensions.
  struct Layout {
    Value value;
    Ints order;
  };

  // The order in which this pass has made the value.
  std::optional<Layout> LayoutOf(const Value& value) const {
    const auto found = made_.find({value.node, value.index});
    if (found == made_.end()) return std::nullopt;
    return found->second;
  }

  // Transposes a value, for all of its users that take this order.
  Layout With(RegionNodes& nodes, const Value& value, const Ints& order) {
    const Layout layout{Transposed(nodes, value, order), order};
    made_[{value.node, value.index}] = layout;
    return layout;
  }
  Layout WithChannelsLast(RegionNodes& nodes, const Value& value) {
    return With(nodes, value, ChannelsLast(value.type().shape.size()));
  }

  Value Transposed(RegionNodes& nodes, const Value& value, const Ints& order) {
    if (IsIdentity(order)) return value;
    return nodes.Make(
        Op::kHloTranspose,
        {value.type().element, Permuted(value.type().shape, order), {}},
        {value}, ir::TransposeAttributes{order});
  }

  // The value in this order.
  Value InOrder(RegionNodes& nodes, const Value& value, const Ints& order) {
    const std::optional<Layout> layout = LayoutOf(value);
    if (layout && layout->order == order) return layout->value;
    return Transposed(nodes, value, order);
  }

  // The same, if it needs no move of a whole image.
  std::optional<Value> CheaplyInOrder(RegionNodes& nodes, const Value& value,
                                      const Ints& order) {
    if (value.type().shape.empty()) return value;
    const std::optional<Layout> layout = LayoutOf(value);
    if (layout && layout->order == order) return layout->value;
    const Node& node = *value.node;
    if (node.op != Op::kHloBroadcastInDim) return std::nullopt;
    const Value source = node.operands[0];
    if (source.type().elements() * kSmallPart > value.type().elements())
      return std::nullopt;
    const Ints inverse = InverseOf(order);
    Ints places;
    for (const int64_t d : node.attr<ir::HloDimensionsAttributes>().dimensions)
      places.push_back(inverse[d]);
    Ints sorted(places.size());
    for (size_t i = 0; i < sorted.size(); ++i)
      sorted[i] = static_cast<int64_t>(i);
    std::sort(sorted.begin(), sorted.end(),
              [&](int64_t a, int64_t b) { return places[a] < places[b]; });
    return nodes.Make(
        Op::kHloBroadcastInDim,
        {value.type().element, Permuted(value.type().shape, order), {}},
        {Transposed(nodes, source, sorted)},
        ir::HloDimensionsAttributes{Permuted(places, sorted)});
  }

  // Adds the node with its result in this order; its users take the result
  // transposed back.
  void Replace(RegionNodes& nodes, const Node& node, Values operands,
               Attributes attributes, const Ints& order) {
    Node moved = node;
    moved.operands = std::move(operands);
    moved.attributes = std::move(attributes);
    moved.type.shape = Permuted(node.type.shape, order);
    const Value value = nodes.Add(std::move(moved));
    const Value back = Transposed(nodes, value, InverseOf(order));
    if (!IsIdentity(order)) made_[{back.node, back.index}] = {value, order};
    module_.ReplaceUses(const_cast<Node*>(&node), back);
  }

  // The order of an image of this many dimensions with channels last.
  static Ints ChannelsLast(size_t rank) {
    Ints order = {0};
    for (size_t d = 2; d < rank; ++d) order.push_back(static_cast<int64_t>(d));
    order.push_back(1);
    return order;
  }

  // A kernel that is reversed along its taps is one with reversed windows.
  static void FoldReverse(Value& kernel, ir::HloConvolutionAttributes& a) {
    if (kernel.node->op != Op::kHloReverse) return;
    const Ints& reversed =
        kernel.node->attr<ir::HloDimensionsAttributes>().dimensions;
    Ints reversal = a.reversal;
    for (const int64_t d : reversed) {
      const auto tap =
          std::find(a.kernel_spatial.begin(), a.kernel_spatial.end(), d);
      if (tap == a.kernel_spatial.end()) return;
      int64_t& turned = reversal[tap - a.kernel_spatial.begin()];
      turned = turned == 0 ? 1 : 0;
    }
    a.reversal = reversal;
    kernel = kernel.node->operands[0];
  }

  // Whether the lowering takes parts of the kernel, reverses it, or converts it
  // to several parts of bf16.
  static bool TakesTapsApart(const ir::HloConvolutionAttributes& a) {
    const auto is_one = [](int64_t d) { return d == 1; };
    const auto is_zero = [](int64_t r) { return r == 0; };
    return !std::all_of(a.lhs_dilation.begin(), a.lhs_dilation.end(), is_one) ||
           !std::all_of(a.reversal.begin(), a.reversal.end(), is_zero) ||
           a.precision != ir::Precision::kDefault;
  }

  // Convolutions take any order, if told which dimension is which.
  void MoveConvolution(Node& node) {
    auto a = node.attr<ir::HloConvolutionAttributes>();
    RegionNodes nodes(module_, &node, node.name);
    Values operands = node.operands;
    FoldReverse(operands[1], a);
    const Ints order = ChannelsLast(node.type.shape.size());
    Ints result(order.size());
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = static_cast<int64_t>(i);
    const auto renamed = [](const Ints& by, int64_t& first, int64_t& second,
                            Ints& spatial) {
      const Ints inverse = InverseOf(by);
      first = inverse[first];
      second = inverse[second];
      for (int64_t& d : spatial) d = inverse[d];
    };
    // The gradient of weights convolves an image with an image: their batches
    // are contracted.
    const bool of_weights =
        HasChannelsSecond(a.input_feature, a.input_batch, a.input_spatial) &&
        HasChannelsSecond(a.kernel_input_feature, a.kernel_output_feature,
                          a.kernel_spatial);
    bool moved = operands[1] != node.operands[1];
    std::optional<Layout> layout = LayoutOf(operands[0]);
    if (!layout &&
        (of_weights ||
         HasChannelsSecond(a.input_batch, a.input_feature, a.input_spatial)))
      layout = WithChannelsLast(nodes, operands[0]);
    if (layout) {
      operands[0] = layout->value;
      renamed(layout->order, a.input_batch, a.input_feature, a.input_spatial);
      moved = true;
    }
    std::optional<Layout> kernel = LayoutOf(operands[1]);
    if (!kernel && of_weights) {
      kernel = WithChannelsLast(nodes, operands[1]);
    } else if (!kernel && TakesTapsApart(a) &&
               HasChannelsSecond(0, 1, a.kernel_spatial)) {
      // Taps outside, lines of output channels: what is taken apart are lines.
      Ints order = a.kernel_spatial;
      order.push_back(a.kernel_input_feature);
      order.push_back(a.kernel_output_feature);
      kernel = With(nodes, operands[1], order);
    }
    if (kernel) {
      operands[1] = kernel->value;
      renamed(kernel->order, a.kernel_input_feature, a.kernel_output_feature,
              a.kernel_spatial);
      moved = true;
    }
    if (HasChannelsSecond(a.output_batch, a.output_feature, a.output_spatial)) {
      result = order;
      renamed(order, a.output_batch, a.output_feature, a.output_spatial);
      moved = true;
    }
    if (moved) Replace(nodes, node, operands, a, result);
  }

  void MoveOther(Node& node) {
    // The first operand that lies in another order decides.
    std::optional<Layout> layout;
    for (const Value& operand : node.operands) {
      layout = LayoutOf(operand);
      if (layout) break;
    }
    if (!layout || node.results() != 1) return;
    const Ints& order = layout->order;
    RegionNodes nodes(module_, &node, node.name);
    if (ir::IsElementwiseOp(node.op))
      return MoveElementwise(nodes, node, order);
    switch (node.op) {
      case Op::kHloTranspose:
        return MoveTranspose(nodes, node, *layout);
      case Op::kHloReduce:
        return MoveReduce(nodes, node, *layout);
      case Op::kHloReduceWindow:
      case Op::kHloSelectAndScatter:
        return MoveWindow(nodes, node, order);
      case Op::kHloPad: {
        if (!LayoutOf(node.operands[0])) return;
        const auto& a = node.attr<ir::HloPadAttributes>();
        return Replace(nodes, node, {layout->value, node.operands[1]},
                       ir::HloPadAttributes{Permuted(a.low, order),
                                            Permuted(a.high, order),
                                            Permuted(a.interior, order)},
                       order);
      }
      case Op::kHloSlice: {
        const auto& a = node.attr<ir::HloSliceAttributes>();
        return Replace(nodes, node, {layout->value},
                       ir::HloSliceAttributes{Permuted(a.start, order),
                                              Permuted(a.limit, order),
                                              Permuted(a.strides, order)},
                       order);
      }
      case Op::kHloConcatenate: {
        const std::optional<Values> operands = AllInOrder(nodes, node, order);
        const int64_t d = node.attr<ir::HloDimensionAttributes>().dimension;
        if (operands)
          Replace(nodes, node, *operands,
                  ir::HloDimensionAttributes{InverseOf(order)[d]}, order);
        return;
      }
      default:
        return;
    }
  }

  std::optional<Values> AllInOrder(RegionNodes& nodes, const Node& node,
                                   const Ints& order) {
    Values operands;
    for (const Value& operand : node.operands) {
      const std::optional<Value> value = CheaplyInOrder(nodes, operand, order);
      if (!value) return std::nullopt;
      operands.push_back(*value);
    }
    return operands;
  }

  void MoveElementwise(RegionNodes& nodes, const Node& node,
                       const Ints& order) {
    const std::optional<Values> operands = AllInOrder(nodes, node, order);
    if (operands) Replace(nodes, node, *operands, node.attributes, order);
  }

  // A transpose of what this pass transposes back is one, or none.
  void MoveTranspose(RegionNodes& nodes, const Node& node,
                     const Layout& layout) {
    const Ints& by = node.attr<ir::TransposeAttributes>().permutation;
    module_.ReplaceUses(
        const_cast<Node*>(&node),
        Transposed(nodes, layout.value, Permuted(InverseOf(layout.order), by)));
  }

  // The elements of each result come in their order.
  void MoveReduce(RegionNodes& nodes, const Node& node, const Layout& layout) {
    const Ints& dimensions =
        node.attr<ir::HloDimensionsAttributes>().dimensions;
    Ints reduced, kept, places;
    for (size_t i = 0; i < layout.order.size(); ++i) {
      const int64_t d = layout.order[i];
      if (std::count(dimensions.begin(), dimensions.end(), d) > 0) {
        reduced.push_back(d);
        places.push_back(static_cast<int64_t>(i));
      } else {
        kept.push_back(d);
      }
    }
    if (node.operands.size() != 2 ||
        !std::is_sorted(reduced.begin(), reduced.end()))
      return;
    // In the same sections.
    const Ints& shape = node.operands[0].type().shape;
    const ir::TreeShape now = ir::TreeShapeOf(shape, dimensions),
                        then = ir::TreeShapeOf(Permuted(shape, layout.order),
                                               places);
    if (ir::SectionOf(now.count, now.inner) !=
        ir::SectionOf(then.count, then.inner))
      return;
    // From the dimensions that are kept to those of the result.
    Ints order(kept.size());
    Ints sorted = kept;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < kept.size(); ++i)
      order[i] =
          std::find(sorted.begin(), sorted.end(), kept[i]) - sorted.begin();
    Replace(nodes, node, {layout.value, node.operands[1]},
            ir::HloDimensionsAttributes{places}, order);
  }

  void MoveWindow(RegionNodes& nodes, const Node& node, const Ints& order) {
    const auto& a = node.attr<ir::HloWindowAttributes>();
    // The order of a window's elements must stay.
    Ints windowed;
    for (const int64_t d : order)
      if (a.window[d] != 1) windowed.push_back(d);
    if (!std::is_sorted(windowed.begin(), windowed.end())) return;
    Values operands;
    for (const Value& operand : node.operands) {
      operands.push_back(operand.type().shape.empty()
                             ? operand
                             : InOrder(nodes, operand, order));
    }
    Replace(nodes, node, operands, WindowOf(a, order), order);
  }

  ir::Module& module_;
  // By node and number of the result: values that are transposed back, and
  // those that are transposed.
  std::map<std::pair<const Node*, int>, Layout> made_;
};

}  // namespace

void MoveChannelsLast(ir::Module& module) { ImageLayout(module).Move(); }

}  // namespace systole::lanes
