// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/gradient_lowering.h"

#include <algorithm>
#include <utility>

#include "host/compiler/kernels/depthwise_shape.h"
#include "host/compiler/kernels/gradient_kernel.h"
#include "host/compiler/kernels/product_nodes.h"
#include "host/ir/hlo/products.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using ir::Ints;
using ir::Node;
using ir::Op;
using ir::Value;

class Gradient : private ProductNodes {
 public:
  Gradient(ir::Module& module, Node& node)
      : ProductNodes(module, node),
        node_(node),
        a_(node.attr<ir::HloConvolutionAttributes>()),
        channels_(node.operands[1].type().shape[a_.kernel_output_feature]),
        spatial_(static_cast<int64_t>(a_.stride.size())) {}

  Node* Make() {
    ir::HloConvolutionAttributes a = a_;
    a.input_feature = a.kernel_input_feature = 0;
    a.input_batch = a.kernel_output_feature = a.output_feature = spatial_ + 1;
    a.output_batch = spatial_;
    for (int64_t i = 0; i < spatial_; ++i) {
      a.input_spatial[i] = a.kernel_spatial[i] = i + 1;
      a.output_spatial[i] = i;
    }
    std::fill(a.reversal.begin(), a.reversal.end(), 0);
    a.batch_group_count = channels_;
    Ints shape;
    for (const int64_t d : a_.output_spatial)
      shape.push_back(node_.type.shape[d]);
    shape.insert(shape.end(), {1, channels_});
    return ProductNodes::Make(Op::kHloConvolution,
                              {node_.type.element, shape, {}},
                              {Input(), Kernel()}, std::move(a))
        .node;
  }

  // The result in the node's order.
  Value Result(Node* made) {
    const Ints dense = ir::StridesOf(made->type.shape);
    Ints strides(node_.type.rank(), 1);
    for (int64_t i = 0; i < spatial_; ++i)
      strides[a_.output_spatial[i]] = dense[i];
    return Walked(Value(made), {node_.type.shape, strides});
  }

 private:
  // [images, positions, channels], as often as they have outputs.
  Value Input() {
    const Value value = Convert(node_.operands[0], kBf16);
    const Ints& shape = value.type().shape;
    const int64_t outputs = channels_ / shape[a_.input_batch];
    Walk walk = Ordered(
        shape, {{a_.input_feature}, a_.input_spatial, {a_.input_batch}});
    Ints made = walk.sizes;
    made.back() = channels_;
    if (outputs > 1) walk.Add(outputs, 0);
    return Reshape(Walked(value, walk), made);
  }

  Value Kernel() {
    const Value value = Convert(node_.operands[1], kBf16);
    const Ints& shape = value.type().shape;
    Walk walk = Ordered(shape, {{a_.kernel_input_feature},
                                a_.kernel_spatial,
                                {a_.kernel_output_feature}});
    for (int64_t i = 0; i < spatial_; ++i) {
      if (a_.reversal[i] == 0) continue;
      walk.offset += (walk.sizes[i + 1] - 1) * walk.strides[i + 1];
      walk.strides[i + 1] = -walk.strides[i + 1];
    }
    return Walked(value, walk);
  }

  Node& node_;
  const ir::HloConvolutionAttributes& a_;
  const int64_t channels_, spatial_;
};

}  // namespace

bool LowerDepthwiseGradient(ir::Module& module, Node& node,
                            const Preset& preset) {
  if (node.op != Op::kHloConvolution || node.type.elements() == 0) return false;
  const auto& a = node.attr<ir::HloConvolutionAttributes>();
  const ir::Type &left = node.operands[0].type(),
                 &right = node.operands[1].type();
  const auto is_one = [](int64_t d) { return d == 1; };
  if (a.batch_group_count == 1 || a.stride.empty() ||
      node.type.shape[a.output_batch] != 1 || left.elements() == 0 ||
      right.elements() == 0 ||
      !std::all_of(a.lhs_dilation.begin(), a.lhs_dilation.end(), is_one) ||
      !ir::IsFloat(left.element) || !ir::IsFloat(right.element) ||
      ir::PassesOf(left.element, right.element, a.precision).size() != 1)
    return false;
  if (IsDepthwiseGradient(node))
    return CompileDepthwiseGradient(node, preset).ok();
  Gradient gradient(module, node);
  Node* made = gradient.Make();
  if (!IsDepthwiseGradient(*made) ||
      !CompileDepthwiseGradient(*made, preset).ok())
    return false;
  module.ReplaceUses(Value(&node), gradient.Result(made));
  return true;
}

}  // namespace systole::lanes
