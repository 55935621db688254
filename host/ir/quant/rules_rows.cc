// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Rules of reductions, of functions of whole rows and of products of two
// values.
#include <algorithm>
#include <cmath>
#include <limits>

#include "host/ir/quant/rules.h"
#include "host/ir/verifier.h"

namespace systole::ir {

absl::Status CheckReduce(const Node& node) {
  const Type& input = node.operands[0]->type;
  const Ints& axes = node.attr<ReduceAttributes>().axes;
  const bool integers =
      input.element == ElementType::kInt32 && !input.quantization;
  if (integers && node.op != Op::kMean) {
    SYSTOLE_IR_CHECK(
        node.type.element == input.element && !node.type.quantization,
        "result is ", TypeText(node.type), ", not i32");
  } else {
    SYSTOLE_IR_CHECK(node.op != Op::kReduceProd, "input is ", TypeText(input),
                     ", not plain i32");
    SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(input, "input"));
    SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(node.type, "result"));
  }
  std::vector<int64_t> kept = input.shape, removed;
  int64_t count = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    SYSTOLE_IR_CHECK(0 <= axes[i] && axes[i] < input.rank() &&
                         (i == 0 || axes[i - 1] < axes[i]),
                     "axes ", ShapeText(axes), " of ", TypeText(input));
    count *= kept[axes[i]];
    kept[axes[i]] = 1;
  }
  for (int i = 0; i < input.rank(); ++i) {
    if (std::count(axes.begin(), axes.end(), i) == 0) {
      removed.push_back(input.shape[i]);
    }
  }
  if (node.type.shape != removed) {
    SYSTOLE_IR_RETURN_IF_ERROR(CheckShape(node.type, kept));
  }
  if (integers) return absl::OkStatus();
  if (node.op == Op::kReduceMax || node.op == Op::kReduceMin) {
    return CheckSameQuantization(input, node.type);
  }
  SYSTOLE_IR_CHECK(count < std::numeric_limits<int32_t>::max() / 256, "a ",
                   OpName(node.op), " of ", count, " values is too many");
  return CheckFactor(double{input.quantization->scale()} /
                     node.quantization().scale());
}

absl::Status CheckArgument(const Node& node) {
  const Type& input = node.operands[0]->type;
  const int64_t axis = node.attr<AxisAttributes>().axis;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(input, "input"));
  SYSTOLE_IR_CHECK(
      node.type.element == ElementType::kInt32 && !node.type.quantization,
      "result is ", TypeText(node.type), ", not plain i32");
  SYSTOLE_IR_CHECK(0 <= axis && axis < input.rank(), "axis ", axis, " of ",
                   TypeText(input));
  std::vector<int64_t> shape = input.shape;
  shape.erase(shape.begin() + axis);
  return CheckShape(node.type, shape);
}

absl::Status CheckRows(const Node& node) {
  const Type& input = node.operands[0]->type;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(input, "input"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(node.type, "result"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckShape(node.type, input.shape));
  SYSTOLE_IR_CHECK(input.rank() >= 1, "rows of a scalar");
  const bool log = node.op == Op::kLogSoftmax;
  const float scale = log ? 1.0f / 16 : 1.0f / 128;
  const int zero_point = log ? 127 : 0;
  SYSTOLE_IR_CHECK(node.quantization().scale() == scale &&
                       node.quantization().zero_point == zero_point,
                   "the result must have scale ", scale, " and zero point ",
                   zero_point, ", not ", TypeText(node.type));
  SYSTOLE_IR_CHECK(input.shape.back() <= (1 << 15), "rows of ",
                   input.shape.back(), " values are too long");
  return absl::OkStatus();
}

absl::Status CheckBatchMatmul(const Node& node) {
  const auto& a = node.attr<MatmulAttributes>();
  const Type& left = node.operands[0]->type;
  const Type& right = node.operands[1]->type;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(left, "first operand"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(right, "second operand"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(node.type, "result"));
  SYSTOLE_IR_CHECK(left.rank() >= 2 && right.rank() >= 2, TypeText(left),
                   " and ", TypeText(right), " are not matrices");
  const auto size = [](const Type& type, int from_end) {
    return type.shape[type.rank() - from_end];
  };
  const int64_t depth = size(left, a.transpose_left ? 2 : 1);
  SYSTOLE_IR_CHECK(depth == size(right, a.transpose_right ? 1 : 2),
                   TypeText(left), " and ", TypeText(right),
                   " do not fit each other");
  SYSTOLE_IR_CHECK(depth <= (1 << 15), "sums of ", depth,
                   " products are too long");
  const std::vector<int64_t> outer[] = {
      {left.shape.begin(), left.shape.end() - 2},
      {right.shape.begin(), right.shape.end() - 2}};
  auto shape = BroadcastShape(outer[0], outer[1]);
  SYSTOLE_IR_CHECK(shape.has_value(), TypeText(left), " and ", TypeText(right),
                   " do not fit each other");
  shape->push_back(size(left, a.transpose_left ? 1 : 2));
  shape->push_back(size(right, a.transpose_right ? 2 : 1));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckShape(node.type, *shape));
  return CheckFactor(double{left.quantization->scale()} *
                     right.quantization->scale() / node.quantization().scale());
}

absl::Status CheckGather(const Node& node) {
  const Type& input = node.operands[0]->type;
  const Type& indices = node.operands[1]->type;
  const auto& [axis, batch] = node.attr<GatherAttributes>();
  SYSTOLE_IR_CHECK(node.type.element == input.element, "the result is ",
                   TypeText(node.type), ", the operand ", TypeText(input));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckSameQuantization(input, node.type));
  SYSTOLE_IR_CHECK(
      indices.element == ElementType::kInt32 && !indices.quantization,
      "indices are ", TypeText(indices), ", not plain i32");
  SYSTOLE_IR_CHECK(0 <= axis && axis < input.rank(), "axis ", axis, " of ",
                   TypeText(input));
  SYSTOLE_IR_CHECK(
      0 <= batch && batch <= axis && batch <= indices.rank() &&
          std::equal(input.shape.begin(), input.shape.begin() + batch,
                     indices.shape.begin()),
      batch, " batch dimensions of ", TypeText(input), " and ",
      TypeText(indices), " along axis ", axis);
  std::vector<int64_t> shape = input.shape;
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, indices.shape.begin() + batch,
               indices.shape.end());
  return CheckShape(node.type, shape);
}

}  // namespace systole::ir
