// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include <algorithm>

#include "host/ir/hlo/rules.h"
#include "host/ir/hlo/window.h"

namespace systole::ir {
namespace {

// Products of floats are floats; integers may have any result type but i1.
absl::Status CheckElements(const Node& node) {
  for (const Value& operand : node.operands) {
    const ElementType element = operand.type().element;
    SYSTOLE_IR_CHECK(element != ElementType::kBool &&
                         (!IsFloat(element) || IsFloat(node.type.element)) &&
                         node.type.element != ElementType::kBool,
                     "a product of ", TypeText(operand.type()), " is not ",
                     TypeText(node.type));
  }
  return absl::OkStatus();
}

}  // namespace

Types InferDotGeneral(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckElements(node));
  const Type& lhs = node.operands[0].type();
  const Type& rhs = node.operands[1].type();
  const auto& a = node.attr<HloDotAttributes>();
  Ints left = a.lhs_batching, right = a.rhs_batching;
  left.insert(left.end(), a.lhs_contracting.begin(), a.lhs_contracting.end());
  right.insert(right.end(), a.rhs_contracting.begin(), a.rhs_contracting.end());
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckDimensions(left, lhs.rank(), "dimensions of the left operand"));
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckDimensions(right, rhs.rank(), "dimensions of the right operand"));
  SYSTOLE_IR_CHECK(a.lhs_batching.size() == a.rhs_batching.size() &&
                       left.size() == right.size(),
                   "numbers of batching or contracting dimensions differ");
  Type type{node.type.element, {}, {}};
  for (size_t i = 0; i < left.size(); ++i) {
    SYSTOLE_IR_CHECK(lhs.shape[left[i]] == rhs.shape[right[i]], "dimension ",
                     left[i], " of ", TypeText(lhs), " does not go with ",
                     right[i], " of ", TypeText(rhs));
    if (i < a.lhs_batching.size()) type.shape.push_back(lhs.shape[left[i]]);
  }
  const auto append_free = [&](const Type& from, const Ints& used) {
    for (int i = 0; i < from.rank(); ++i) {
      if (std::find(used.begin(), used.end(), i) == used.end()) {
        type.shape.push_back(from.shape[i]);
      }
    }
  };
  append_free(lhs, left);
  append_free(rhs, right);
  return std::vector<Type>{type};
}

Types InferMatrixProduct(const Node& node) {
  const Type& left = node.operands[0].type();
  const Type& right = node.operands[1].type();
  const auto& a = node.attr<HloMatrixProductAttributes>();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckWalk(left, a.sizes, a.strides, 0));
  SYSTOLE_IR_CHECK(
      0 <= a.lines && a.lines < static_cast<int64_t>(a.sizes.size()), a.lines,
      " dimensions of lines");
  int64_t m = 1, k = 1;
  for (size_t i = 1; i < a.sizes.size(); ++i)
    (static_cast<int64_t>(i) <= a.lines ? m : k) *= a.sizes[i];
  SYSTOLE_IR_CHECK(left.element == ElementType::kBfloat16 &&
                       right.element == ElementType::kBfloat16 &&
                       right.rank() == 3 && right.shape[0] == a.sizes[0] &&
                       right.shape[a.transposed ? 2 : 1] == k,
                   "a product of ", a.sizes[0], " times ", m, " x ", k, " of ",
                   TypeText(left), " and ", TypeText(right),
                   a.transposed ? ", transposed" : "");
  return std::vector<Type>{{ElementType::kFloat32,
                            {a.sizes[0], m, right.shape[a.transposed ? 1 : 2]},
                            {}}};
}

Types InferConvolution(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckElements(node));
  const Type& lhs = node.operands[0].type();
  const Type& rhs = node.operands[1].type();
  const auto& a = node.attr<HloConvolutionAttributes>();
  const int64_t rank = lhs.rank();
  const int64_t spatial = rank - 2;
  SYSTOLE_IR_CHECK(rank >= 2 && rhs.rank() == rank, TypeText(lhs), " and ",
                   TypeText(rhs), " are not convolved");
  for (const Ints* entries :
       {&a.stride, &a.low, &a.high, &a.lhs_dilation, &a.rhs_dilation,
        &a.reversal, &a.input_spatial, &a.kernel_spatial, &a.output_spatial}) {
    SYSTOLE_IR_RETURN_IF_ERROR(
        CheckLength(*entries, spatial, "the convolution's lists"));
  }
  const auto check = [&](int64_t first, int64_t second, const Ints& others,
                         const char* what) {
    Ints all = {first, second};
    all.insert(all.end(), others.begin(), others.end());
    return CheckDimensions(all, rank, what);
  };
  SYSTOLE_IR_RETURN_IF_ERROR(check(a.input_batch, a.input_feature,
                                   a.input_spatial, "input dimensions"));
  SYSTOLE_IR_RETURN_IF_ERROR(check(a.kernel_input_feature,
                                   a.kernel_output_feature, a.kernel_spatial,
                                   "kernel dimensions"));
  SYSTOLE_IR_RETURN_IF_ERROR(check(a.output_batch, a.output_feature,
                                   a.output_spatial, "output dimensions"));
  const int64_t batch = lhs.shape[a.input_batch];
  const int64_t features = lhs.shape[a.input_feature];
  const int64_t outputs = rhs.shape[a.kernel_output_feature];
  SYSTOLE_IR_CHECK(a.feature_group_count >= 1 && a.batch_group_count >= 1 &&
                       (a.feature_group_count == 1 || a.batch_group_count == 1),
                   a.feature_group_count, " feature and ", a.batch_group_count,
                   " batch groups");
  SYSTOLE_IR_CHECK(
      rhs.shape[a.kernel_input_feature] * a.feature_group_count == features &&
          outputs % a.feature_group_count == 0,
      TypeText(rhs), " has not the features of ", TypeText(lhs), " in ",
      a.feature_group_count, " groups");
  SYSTOLE_IR_CHECK(
      batch % a.batch_group_count == 0 && outputs % a.batch_group_count == 0,
      "the batch of ", TypeText(lhs), " has not ", a.batch_group_count,
      " groups");
  Type type{node.type.element, Ints(rank, 0), {}};
  type.shape[a.output_batch] = batch / a.batch_group_count;
  type.shape[a.output_feature] = outputs;
  for (int64_t i = 0; i < spatial; ++i) {
    const WindowDimension window{lhs.shape[a.input_spatial[i]],
                                 rhs.shape[a.kernel_spatial[i]],
                                 a.stride[i],
                                 a.lhs_dilation[i],
                                 a.rhs_dilation[i],
                                 a.low[i],
                                 a.high[i]};
    SYSTOLE_IR_RETURN_IF_ERROR(CheckWindow(window));
    SYSTOLE_IR_CHECK(a.reversal[i] == 0 || a.reversal[i] == 1, "reversal ",
                     ShapeText(a.reversal));
    type.shape[a.output_spatial[i]] = window.positions();
  }
  return std::vector<Type>{type};
}

}  // namespace systole::ir
