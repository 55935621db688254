// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include <cmath>

#include "host/ir/quant/rules.h"
#include "host/ir/verifier.h"

namespace systole::ir {
namespace {

// For kernels with a single factor: the scale of the bias may differ from that
// of the products by at most this part of a step of the result. Kernels with a
// factor per channel do not check it.
constexpr double kBiasScaleTolerance = 0.02;

}  // namespace

int64_t WindowPositions(int64_t size, int64_t kernel, int64_t stride,
                        int64_t dilation, int64_t pad_before,
                        int64_t pad_after) {
  const int64_t padded = size + pad_before + pad_after;
  const int64_t extent = dilation * (kernel - 1) + 1;
  return extent > padded ? 0 : (padded - extent) / stride + 1;
}

std::optional<std::vector<int64_t>> BroadcastShape(
    const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> shape(std::max(a.size(), b.size()));
  for (size_t i = 0; i < shape.size(); ++i) {  // from the last dimension
    const int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (left != right && left != 1 && right != 1) return std::nullopt;
    shape[shape.size() - 1 - i] = left == 1 ? right : left;
  }
  return shape;
}

absl::Status CheckActivation(const Type& type, const std::string& what) {
  SYSTOLE_IR_CHECK(
      type.element == ElementType::kInt8 && !type.quantization->per_channel(),
      what, " is ", TypeText(type), ", not i8 with one scale");
  return absl::OkStatus();
}

absl::Status CheckSameQuantization(const Type& a, const Type& b) {
  if (!a.quantization && !b.quantization) return absl::OkStatus();
  const bool same =
      a.quantization && b.quantization &&
      a.quantization->scales.size() == b.quantization->scales.size() &&
      a.quantization->zero_point == b.quantization->zero_point &&
      std::abs(a.quantization->scale() - b.quantization->scale()) <= 1e-6f;
  SYSTOLE_IR_CHECK(same, TypeText(a), " and ", TypeText(b),
                   " differ in scale or zero point");
  return absl::OkStatus();
}

absl::Status CheckShape(const Type& type, const std::vector<int64_t>& shape) {
  SYSTOLE_IR_CHECK(type.shape == shape, "the result is ", TypeText(type),
                   ", but the operands make ", ShapeText(shape));
  return absl::OkStatus();
}

absl::Status CheckBroadcast(const Node& node) {
  std::vector<int64_t> shape;
  for (const Node* operand : node.operands) {
    const auto both = BroadcastShape(shape, operand->type.shape);
    SYSTOLE_IR_CHECK(both.has_value(), "shapes ", ShapeText(shape), " and ",
                     ShapeText(operand->type.shape), " do not fit each other");
    shape = *both;
  }
  return CheckShape(node.type, shape);
}

absl::Status CheckTruth(const Type& type, const std::string& what) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(type, what));
  SYSTOLE_IR_CHECK(
      type.quantization->scale() == 1 && type.quantization->zero_point == 0,
      what, " is ", TypeText(type), ", not of truth values");
  return absl::OkStatus();
}

absl::Status CheckClamp(const Ints& clamp) {
  SYSTOLE_IR_CHECK(clamp.size() == 2 && -128 <= clamp[0] &&
                       clamp[0] <= clamp[1] && clamp[1] <= 127,
                   "clamp ", ShapeText(clamp), " is no range of i8");
  return absl::OkStatus();
}

absl::Status CheckFactor(double factor) {
  SYSTOLE_IR_CHECK(std::isfinite(factor) && factor > 0 &&
                       factor < std::ldexp(1.0, 30) * (1 - 1e-9),
                   "the scales make a factor of ", factor,
                   ", not in 0 .. 2^30");
  return absl::OkStatus();
}

absl::Status CheckWeights(const Node& node, int axis) {
  const Type& input = node.operands[0]->type;
  const Type& weights = node.operands[1]->type;
  const Quantization& q = *weights.quantization;
  const int64_t channels = weights.shape[axis];
  SYSTOLE_IR_CHECK(weights.element == ElementType::kInt8, "weights are ",
                   TypeText(weights), ", not i8");
  const auto* conv = node.attributes.If<ConvAttributes>();
  const auto* dense = node.attributes.If<DenseAttributes>();
  SYSTOLE_IR_CHECK(
      q.zero_point == 0 || dense != nullptr || (conv != nullptr && conv->uint8),
      "weights of int8 have zero point ", q.zero_point, ", not 0");
  SYSTOLE_IR_CHECK(!q.per_channel() || q.axis == axis,
                   "scales of the weights are along axis ", q.axis, ", not ",
                   axis);
  for (int64_t c = 0; c < (q.per_channel() ? channels : 1); ++c) {
    SYSTOLE_IR_RETURN_IF_ERROR(
        CheckFactor(double{input.quantization->scale()} * q.scale(c) /
                    node.quantization().scale()));
  }
  if (node.operands.size() < 3) {
    SYSTOLE_IR_CHECK(!(conv && conv->zero_point_folded) &&
                         !(dense && dense->zero_point_folded),
                     "the zero point is folded, but there is no bias");
    return absl::OkStatus();
  }
  const Type& bias = node.operands[2]->type;
  SYSTOLE_IR_CHECK(bias.element == ElementType::kInt32 &&
                       bias.shape == std::vector<int64_t>{channels},
                   "bias is ", TypeText(bias), ", not i32[", channels, "]");
  const bool of_channels = conv != nullptr && !conv->uint8;
  if (!bias.quantization || of_channels || q.per_channel())
    return absl::OkStatus();
  const double product = double{input.quantization->scale()} * q.scale();
  const double scale = bias.quantization->scale();
  SYSTOLE_IR_CHECK(std::abs(scale - product) <=
                       kBiasScaleTolerance * node.quantization().scale(),
                   "bias scale ", scale,
                   " is not the product of the scales of input and weights, ",
                   product);
  return absl::OkStatus();
}

}  // namespace systole::ir
