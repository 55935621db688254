// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// An output of a group is a channel of its own, with the features of the group
// as taps of another axis, behind those of the window: so are the terms
// ordered.
#include "host/compiler/kernels/depthwise_lowering.h"

#include <algorithm>
#include <utility>

#include "host/compiler/geometry.h"
#include "host/compiler/kernels/depthwise_kernel.h"
#include "host/compiler/kernels/depthwise_shape.h"
#include "host/compiler/kernels/product_nodes.h"
#include "host/ir/hlo/products.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using ir::Ints;
using ir::Node;
using ir::Op;
using ir::Value;

class Grouped : private ProductNodes {
 public:
  Grouped(ir::Module& module, Node& node)
      : ProductNodes(module, node),
        node_(node),
        a_(node.attr<ir::HloConvolutionAttributes>()),
        groups_(a_.feature_group_count),
        features_(node.operands[1].type().shape[a_.kernel_input_feature]),
        outputs_(node.operands[1].type().shape[a_.kernel_output_feature] /
                 groups_) {}

  // A convolution that IsDepthwise, if the types are right.
  Node* Make() {
    ir::HloConvolutionAttributes a = a_;
    if (features_ > 1) {
      a.stride.push_back(1);
      for (Ints* list : {&a.low, &a.high, &a.reversal}) list->push_back(0);
      for (Ints* list : {&a.lhs_dilation, &a.rhs_dilation}) list->push_back(1);
    }
    const auto spatial = static_cast<int64_t>(a.stride.size());
    a.input_batch = a.output_batch = 0;
    a.input_feature = a.output_feature = a.kernel_output_feature = spatial + 1;
    a.kernel_input_feature = spatial;
    a.input_spatial.clear();
    a.kernel_spatial.clear();
    for (int64_t i = 0; i < spatial; ++i) {
      a.input_spatial.push_back(i + 1);
      a.kernel_spatial.push_back(i);
    }
    a.output_spatial = a.input_spatial;
    std::fill(a.reversal.begin(), a.reversal.end(), 0);
    a.feature_group_count = groups_ * outputs_;
    Ints shape = {node_.type.shape[a_.output_batch]};
    for (const int64_t d : a_.output_spatial)
      shape.push_back(node_.type.shape[d]);
    if (features_ > 1) shape.push_back(1);
    shape.push_back(groups_ * outputs_);
    return ProductNodes::Make(Op::kHloConvolution,
                              {node_.type.element, shape, {}},
                              {Input(), Kernel()}, std::move(a))
        .node;
  }

  // The result in the node's order.
  Value Result(Node* made) {
    const Ints dense = ir::StridesOf(made->type.shape);
    Walk walk;
    for (int64_t d = 0; d < node_.type.rank(); ++d) {
      const auto spatial =
          std::find(a_.output_spatial.begin(), a_.output_spatial.end(), d);
      const int64_t stride =
          d == a_.output_batch ? dense[0]
          : d == a_.output_feature
              ? 1
              : dense[1 + (spatial - a_.output_spatial.begin())];
      walk.Add(node_.type.shape[d], stride);
    }
    return Walked(Value(made), walk);
  }

  int64_t features() const { return features_; }

 private:
  // [images, positions, features of a group, outputs].
  Value Input() {
    Value value = node_.operands[0];
    const bool one_part =
        ir::PassesOf(value.type().element, node_.operands[1].type().element,
                     a_.precision)
            .size() == 1;
    const bool spreads = features_ > 1 || outputs_ > 1;
    // What another kernel makes leaves it as the part that is needed.
    if (one_part && (spreads || ir::IsElementwiseOp(value->op)))
      value = Convert(value, kBf16);
    const Ints shape = value.type().shape;
    const int64_t batch = shape[a_.input_batch];
    Ints made = {batch};
    for (const int64_t d : a_.input_spatial) made.push_back(shape[d]);
    const int64_t places = SizeOf(made) / batch;
    if (features_ > 1) made.push_back(features_);
    made.push_back(groups_ * outputs_);
    if (!spreads) {
      return Walked(value, Ordered(shape, {{a_.input_batch},
                                           a_.input_spatial,
                                           {a_.input_feature}}));
    }
    // Channels are repeated and moved as lines of an image's places.
    value = Walked(value, Ordered(shape, {{a_.input_batch, a_.input_feature},
                                          a_.input_spatial}));
    const int64_t channels = features_ * groups_, all = channels * outputs_;
    value =
        Walked(value, {{batch, features_, groups_, outputs_, places},
                       {channels * places, places, features_ * places, 0, 1}});
    value = Walked(value, {{batch, places, all}, {all * places, 1, places}});
    return Reshape(value, made);
  }

  // [taps, features of a group, 1, outputs].
  Value Kernel() {
    const Value value = node_.operands[1];
    const Ints& shape = value.type().shape;
    const Ints strides = ir::StridesOf(shape);
    Walk walk;
    Ints made;
    for (size_t i = 0; i < a_.kernel_spatial.size(); ++i) {
      const int64_t d = a_.kernel_spatial[i];
      if (a_.reversal[i] != 0) walk.offset += (shape[d] - 1) * strides[d];
      walk.Add(shape[d], a_.reversal[i] != 0 ? -strides[d] : strides[d]);
      made.push_back(shape[d]);
    }
    if (features_ > 1) {
      walk.Add(features_, strides[a_.kernel_input_feature]);
      made.push_back(features_);
    }
    walk.Add(groups_ * outputs_, strides[a_.kernel_output_feature]);
    made.push_back(1);
    made.push_back(groups_ * outputs_);
    return Reshape(Walked(value, walk), made);
  }

  Node& node_;
  const ir::HloConvolutionAttributes& a_;
  const int64_t groups_, features_, outputs_;
};

// Of the array, at least: a pass over all lines for each group, and for what a
// pass takes of the terms.
int64_t ArrayCycles(const Node& node, const Preset& preset) {
  const auto& a = node.attr<ir::HloConvolutionAttributes>();
  const ir::Type& kernel = node.operands[1].type();
  const int64_t outputs = kernel.shape[a.kernel_output_feature];
  const auto passes = static_cast<int64_t>(
      ir::PassesOf(node.operands[0].type().element, kernel.element, a.precision)
          .size());
  const int64_t depth = kernel.elements() / outputs * passes,
                runs = depth / kernel.shape[a.kernel_input_feature];
  return node.type.elements() / outputs * a.feature_group_count *
         std::max(compiler::CeilDiv(depth, preset.rows),
                  compiler::CeilDiv(runs, preset.segments)) *
         compiler::CeilDiv(outputs / a.feature_group_count, preset.cols);
}

}  // namespace

bool LowerDepthwise(ir::Module& module, Node& node, const Preset& preset) {
  if (node.op != Op::kHloConvolution || node.type.elements() == 0) return false;
  const auto& a = node.attr<ir::HloConvolutionAttributes>();
  const auto is_one = [](int64_t d) { return d == 1; };
  if (a.feature_group_count == 1 || a.batch_group_count != 1 ||
      !std::all_of(a.lhs_dilation.begin(), a.lhs_dilation.end(), is_one) ||
      !ir::IsFloat(node.operands[0].type().element) ||
      !ir::IsFloat(node.operands[1].type().element))
    return false;
  if (IsDepthwise(node)) return CompileDepthwise(node, preset).ok();
  Grouped grouped(module, node);
  Node* made = grouped.Make();
  if (!IsDepthwise(*made)) return false;
  const absl::StatusOr<KernelProgram> program = CompileDepthwise(*made, preset);
  if (!program.ok()) return false;
  // With several features, its input is written and read twice before.
  const int64_t cycles =
      program->expected_cycles +
      4 * made->operands[0].type().bytes() / preset.beat_bytes();
  if (grouped.features() > 1 && cycles > ArrayCycles(node, preset))
    return false;
  module.ReplaceUses(Value(&node), grouped.Result(made));
  return true;
}

}  // namespace systole::lanes
