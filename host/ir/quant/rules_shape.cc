// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Rules of operations that move values, and of resizing.
#include "host/ir/quant/rules.h"

namespace systole::ir {
namespace {

absl::Status CheckMoved(const Node& node, const Type& input) {
  SYSTOLE_IR_CHECK(node.type.element == input.element, "the result is ",
                   TypeText(node.type), ", the operand ", TypeText(input));
  return CheckSameQuantization(input, node.type);
}

}  // namespace

absl::Status CheckCast(const Node& node) {
  return CheckShape(node.type, node.operands[0].type().shape);
}

absl::Status CheckReshape(const Node& node) {
  const Type& input = node.operands[0]->type;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckMoved(node, input));
  SYSTOLE_IR_CHECK(input.elements() == node.type.elements(), TypeText(input),
                   " and ", TypeText(node.type), " differ in size");
  return absl::OkStatus();
}

absl::Status CheckPad(const Node& node) {
  const Type& input = node.operands[0]->type;
  const PadAttributes& a = node.attr<PadAttributes>();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckMoved(node, input));
  SYSTOLE_IR_CHECK(
      a.low.size() == input.shape.size() && a.high.size() == input.shape.size(),
      "low ", ShapeText(a.low), " and high ", ShapeText(a.high),
      " are not for ", TypeText(input));
  std::vector<int64_t> shape = input.shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    SYSTOLE_IR_CHECK(0 <= a.low[i] && a.low[i] <= kMaxElements &&
                         0 <= a.high[i] && a.high[i] <= kMaxElements,
                     "padding below 0 or too large: low ", ShapeText(a.low),
                     ", high ", ShapeText(a.high));
    shape[i] += a.low[i] + a.high[i];
  }
  const int64_t limit = int64_t{1} << (8 * ElementBytes(input.element) - 1);
  SYSTOLE_IR_CHECK(-limit <= a.value && a.value < limit, "value ", a.value,
                   " is not one of ", TypeText(input));
  return CheckShape(node.type, shape);
}

absl::Status CheckConcatenate(const Node& node) {
  const int64_t axis = node.attr<AxisAttributes>().axis;
  std::vector<int64_t> shape = node.operands[0]->type.shape;
  SYSTOLE_IR_CHECK(0 <= axis && axis < static_cast<int64_t>(shape.size()),
                   "axis ", axis, " of ", ShapeText(shape));
  shape[axis] = 0;
  for (const Node* operand : node.operands) {
    SYSTOLE_IR_RETURN_IF_ERROR(CheckMoved(node, operand->type));
    std::vector<int64_t> other = operand->type.shape;
    SYSTOLE_IR_CHECK(other.size() == shape.size(), "ranks differ");
    const int64_t size = other[axis];
    other[axis] = shape[axis];
    SYSTOLE_IR_CHECK(other == shape, "operand '", operand->name, "' of ",
                     ShapeText(operand->type.shape), " does not fit the first");
    shape[axis] += size;
  }
  return CheckShape(node.type, shape);
}

absl::Status CheckTranspose(const Node& node) {
  const Type& input = node.operands[0]->type;
  const Ints& permutation = node.attr<TransposeAttributes>().permutation;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckMoved(node, input));
  std::vector<int64_t> shape;
  std::vector<bool> seen(input.shape.size());
  for (int64_t axis : permutation) {
    SYSTOLE_IR_CHECK(0 <= axis && axis < input.rank() && !seen[axis],
                     "permutation ", ShapeText(permutation), " of ",
                     TypeText(input));
    seen[axis] = true;
    shape.push_back(input.shape[axis]);
  }
  return CheckShape(node.type, shape);
}

absl::Status CheckSlice(const Node& node) {
  const Type& input = node.operands[0]->type;
  const SliceAttributes& a = node.attr<SliceAttributes>();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckMoved(node, input));
  SYSTOLE_IR_CHECK(a.begin.size() == input.shape.size() &&
                       a.stride.size() == input.shape.size() &&
                       node.type.shape.size() == input.shape.size(),
                   "begin ", ShapeText(a.begin), ", stride ",
                   ShapeText(a.stride), " and ", TypeText(node.type),
                   " are not for ", TypeText(input));
  for (size_t i = 0; i < a.begin.size(); ++i) {
    SYSTOLE_IR_CHECK(a.stride[i] != 0 && -kMaxElements <= a.stride[i] &&
                         a.stride[i] <= kMaxElements,
                     "stride ", a.stride[i]);
    SYSTOLE_IR_CHECK(0 <= a.begin[i] && a.begin[i] < input.shape[i],
                     "dimension ", i, " begins at ", a.begin[i], " of ",
                     TypeText(input));
    const int64_t last = a.begin[i] + (node.type.shape[i] - 1) * a.stride[i];
    SYSTOLE_IR_CHECK(0 <= last && last < input.shape[i], "dimension ", i,
                     " ends at ", last, " of ", TypeText(input));
  }
  return absl::OkStatus();
}

absl::Status CheckResize(const Node& node) {
  const Type& input = node.operands[0]->type;
  const ResizeAttributes& a = node.attr<ResizeAttributes>();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(input, "input"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckMoved(node, input));
  SYSTOLE_IR_CHECK(input.rank() == 4 && node.type.rank() == 4 &&
                       input.shape[0] == node.type.shape[0] &&
                       input.shape[3] == node.type.shape[3],
                   TypeText(input), " to ", TypeText(node.type),
                   " changes more than height and width");
  SYSTOLE_IR_CHECK(!a.align_corners || !a.half_pixel_centers,
                   "corners are aligned and centres are half pixels");
  for (int i : {1, 2}) {
    SYSTOLE_IR_CHECK(
        input.shape[i] < (1 << 20) && node.type.shape[i] < (1 << 20),
        TypeText(input), " to ", TypeText(node.type), " is too large");
  }
  return absl::OkStatus();
}

}  // namespace systole::ir
