// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Rules of operations that compute: windows, products, elementwise ones.
#include <algorithm>
#include <cmath>

#include "host/ir/quant/rules.h"
#include "host/ir/verifier.h"

namespace systole::ir {
namespace {

absl::Status CheckPositive(const Ints& pair, const char* what) {
  SYSTOLE_IR_CHECK(
      pair.size() == 2 &&
          std::all_of(pair.begin(), pair.end(),
                      [](int64_t v) { return 1 <= v && v <= kMaxWindow; }),
      what, " ", ShapeText(pair), " is not a pair of positive numbers");
  return absl::OkStatus();
}

absl::Status CheckPadding(const Ints& padding) {
  SYSTOLE_IR_CHECK(
      padding.size() == 4 &&
          std::all_of(padding.begin(), padding.end(),
                      [](int64_t v) { return 0 <= v && v <= kMaxWindow; }),
      "padding ", ShapeText(padding), " is not four numbers from 0");
  return absl::OkStatus();
}

// Checks the shape that follows from input and window.
absl::Status CheckWindow(const Node& node, const Ints& kernel,
                         const Ints& stride, const Ints& dilation,
                         const Ints& padding, int64_t channels) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckPositive(kernel, "kernel"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckPositive(stride, "stride"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckPositive(dilation, "dilation"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckPadding(padding));
  const Type& input = node.operands[0]->type;
  std::vector<int64_t> shape = {input.shape[0], 0, 0, channels};
  for (int i = 0; i < 2; ++i) {
    shape[1 + i] = WindowPositions(input.shape[1 + i], kernel[i], stride[i],
                                   dilation[i], padding[i], padding[i + 2]);
    SYSTOLE_IR_CHECK(shape[1 + i] > 0, "a window of ", ShapeText(kernel),
                     " is larger than ", TypeText(input), " and its padding");
  }
  return CheckShape(node.type, shape);
}

// Checks input, weights and result of a convolution.
absl::Status CheckConvOperands(const Node& node, int channel_axis) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(node.operands[0]->type, "input"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(node.type, "result"));
  for (int i = 0; i < 2; ++i) {
    SYSTOLE_IR_CHECK(node.operands[i]->type.rank() == 4,
                     i == 0 ? "input " : "weights ",
                     TypeText(node.operands[i]->type), " not of rank 4");
  }
  SYSTOLE_IR_RETURN_IF_ERROR(CheckClamp(node.attr<ConvAttributes>().clamp));
  return CheckWeights(node, channel_axis);
}

absl::Status CheckConvWindow(const Node& node, int64_t channels) {
  const ConvAttributes& a = node.attr<ConvAttributes>();
  const Type& weights = node.operands[1]->type;
  return CheckWindow(node, {weights.shape[1], weights.shape[2]}, a.stride,
                     a.dilation, a.padding, channels);
}

}  // namespace

absl::Status CheckConvolution(const Node& node) {
  const Type& input = node.operands[0]->type;
  const Type& weights = node.operands[1]->type;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckConvOperands(node, 0));
  SYSTOLE_IR_CHECK(input.shape[3] == weights.shape[3], "input has ",
                   input.shape[3], " channels, weights ", weights.shape[3]);
  return CheckConvWindow(node, weights.shape[0]);
}

absl::Status CheckDepthwise(const Node& node) {
  const Type& input = node.operands[0]->type;
  const Type& weights = node.operands[1]->type;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckConvOperands(node, 3));
  SYSTOLE_IR_CHECK(
      weights.shape[0] == 1 && weights.shape[3] % input.shape[3] == 0,
      "weights ", ShapeText(weights.shape), " are not [1,h,w,n] with n a ",
      "multiple of the input's ", input.shape[3], " channels");
  return CheckConvWindow(node, weights.shape[3]);
}

absl::Status CheckFullyConnected(const Node& node) {
  const Type& input = node.operands[0]->type;
  const Type& weights = node.operands[1]->type;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(input, "input"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(node.type, "result"));
  SYSTOLE_IR_CHECK(weights.rank() == 2, "weights ", TypeText(weights),
                   " not of rank 2");
  SYSTOLE_IR_RETURN_IF_ERROR(CheckClamp(node.attr<DenseAttributes>().clamp));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckWeights(node, 0));
  SYSTOLE_IR_CHECK(input.elements() % weights.shape[1] == 0, "input ",
                   TypeText(input), " is not rows of ", weights.shape[1]);
  SYSTOLE_IR_CHECK(
      node.type.rank() >= 1 && node.type.shape.back() == weights.shape[0] &&
          node.type.elements() ==
              input.elements() / weights.shape[1] * weights.shape[0],
      "result ", TypeText(node.type), " is not ",
      input.elements() / weights.shape[1], " rows of ", weights.shape[0]);
  return absl::OkStatus();
}

absl::Status CheckPool(const Node& node) {
  const PoolAttributes& a = node.attr<PoolAttributes>();
  const Type& input = node.operands[0]->type;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(input, "input"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(node.type, "result"));
  SYSTOLE_IR_CHECK(input.rank() == 4, "input ", TypeText(input),
                   " not of rank 4");
  SYSTOLE_IR_RETURN_IF_ERROR(CheckSameQuantization(input, node.type));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckClamp(a.clamp));
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckWindow(node, a.kernel, a.stride, {1, 1}, a.padding, input.shape[3]));
  for (size_t i = 0; i < 4; ++i) {
    SYSTOLE_IR_CHECK(a.padding[i] < a.kernel[i % 2], "padding ",
                     ShapeText(a.padding), " is not below the kernel ",
                     ShapeText(a.kernel));
  }
  return absl::OkStatus();
}

absl::Status CheckTable(const Node& node) {
  const Type& input = node.operands[0]->type;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(input, "input"));
  // A softmax may have 16-bit results. Their scale may be off by 0.1 percent.
  const bool wide =
      node.op == Op::kSoftmax && node.type.element == ElementType::kInt16;
  if (!wide) SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(node.type, "result"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckShape(node.type, input.shape));
  if (node.op == Op::kTanh) return absl::OkStatus();
  const int range = wide ? 1 << 16 : 1 << 8;
  SYSTOLE_IR_CHECK(
      node.type.quantization && std::abs(node.quantization().scale() * range -
                                         1) <= (wide ? 0.001f : 0),
      "the result must have scale 1/", range, ", not ", TypeText(node.type));
  if (node.op == Op::kLogistic) return absl::OkStatus();
  SYSTOLE_IR_CHECK(node.quantization().zero_point == -range / 2,
                   "the result must have zero point ", -range / 2, ", not ",
                   TypeText(node.type));
  const float beta = node.attr<SoftmaxAttributes>().beta;
  SYSTOLE_IR_CHECK(input.rank() >= 1, "softmax of a scalar");
  // The slope must fit fixed point with 5 integer bits.
  const double slope = double{beta} * input.quantization->scale();
  SYSTOLE_IR_CHECK(std::isfinite(slope) && slope >= std::ldexp(1.0, -26),
                   "beta ", beta, " times the scale is below 2^-26");
  return absl::OkStatus();
}

absl::Status CheckHardSwish(const Node& node) {
  const Type& input = node.operands[0]->type;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(input, "input"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(node.type, "result"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckShape(node.type, input.shape));
  // The largest shift of 16-bit values.
  const float fine = input.quantization->scale() / 128;
  const float gate = fine / (3.0f / 32768),
              ratio = fine / node.quantization().scale();
  SYSTOLE_IR_CHECK(std::ldexp(1.0f, -30) <= gate && gate < std::ldexp(1.0f, 16),
                   "scale ", input.quantization->scale(),
                   " of the input is not in 1.1e-11 .. 768");
  SYSTOLE_IR_CHECK(std::ldexp(1.0f, -30) <= ratio && ratio < 1,
                   "the scale of the result is not in 2^-7 .. 2^23 times the "
                   "input's");
  return absl::OkStatus();
}

absl::Status CheckRelu(const Node& node) {
  const Type& input = node.operands[0]->type;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(input, "input"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(node.type, "result"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckClamp(node.attr<ClampAttributes>().clamp));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckShape(node.type, input.shape));
  return CheckFactor(double{input.quantization->scale()} /
                     node.quantization().scale());
}

absl::Status CheckRescale(const Node& node) {
  const Type& input = node.operands[0]->type;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(input, "input"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(node.type, "result"));
  return CheckShape(node.type, input.shape);
}

// Integers with one scale.
absl::Status CheckNumbers(const Type& type, const std::string& what) {
  SYSTOLE_IR_CHECK(type.element != ElementType::kFloat32 && type.quantization &&
                       !type.quantization->per_channel(),
                   what, " is ", TypeText(type),
                   ", not integers with one scale");
  return absl::OkStatus();
}

absl::Status CheckQuantize(const Node& node) {
  const Type& input = node.operands[0]->type;
  const Type& quantised = node.op == Op::kQuantize ? node.type : input;
  const Type& other = node.op == Op::kQuantize ? input : node.type;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckNumbers(quantised, "the quantised side"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckShape(node.type, input.shape));
  if (other.element == ElementType::kFloat32) return absl::OkStatus();
  SYSTOLE_IR_CHECK(node.op == Op::kQuantize, "the result is ",
                   TypeText(node.type), ", not f32");
  SYSTOLE_IR_RETURN_IF_ERROR(CheckNumbers(other, "input"));
  return CheckFactor(double{input.quantization->scale()} /
                     node.quantization().scale());
}

}  // namespace systole::ir
