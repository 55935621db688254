// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Rules of operations on each element by itself.
#include <algorithm>
#include <cmath>

#include "host/ir/quant/rules.h"

namespace systole::ir {
namespace {

bool Plain(const Type& type, ElementType element) {
  return type.element == element && !type.quantization;
}

// Checks that all operands and the result are i8 with one scale, or plain
// values of `element`.
absl::Status CheckElements(const Node& node, ElementType element) {
  std::vector<const Type*> types = {&node.type};
  for (const Node* operand : node.operands) types.push_back(&operand->type);
  if (Plain(node.type, element)) {
    for (const Type* type : types) {
      SYSTOLE_IR_CHECK(Plain(*type, element), TypeText(*type), " and ",
                       TypeText(node.type), " are of two kinds");
    }
    return absl::OkStatus();
  }
  for (const Type* type : types) {
    SYSTOLE_IR_RETURN_IF_ERROR(
        CheckActivation(*type, type == &node.type ? "result" : "an operand"));
  }
  return absl::OkStatus();
}

float ScaleOf(const Node* node) { return node->quantization().scale(); }

// Checks the ratio of twice the larger operand scale to the result's scale.
absl::Status CheckSumFactor(const Node& node, int bits, double factor) {
  SYSTOLE_IR_CHECK(std::isfinite(factor) && factor < 1 - 1e-9, "scales ",
                   ScaleOf(node.operands[0]), " and ",
                   ScaleOf(node.operands[1]), " are 2^", bits, " times ",
                   ScaleOf(&node), " or more");
  return absl::OkStatus();
}

double TwiceLarger(const Node& node) {
  return 2 *
         double{std::max(ScaleOf(node.operands[0]), ScaleOf(node.operands[1]))};
}

}  // namespace

absl::Status CheckArithmetic(const Node& node) {
  const Ints& clamp = node.attr<ClampAttributes>().clamp;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckElements(node, ElementType::kInt32));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckClamp(clamp));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckBroadcast(node));
  if (!node.type.quantization) {
    SYSTOLE_IR_CHECK(clamp == ClampAttributes{}.clamp, "clamp ",
                     ShapeText(clamp), " of ", TypeText(node.type));
    return absl::OkStatus();
  }
  if (node.op == Op::kMul) {
    return CheckFactor(double{ScaleOf(node.operands[0])} *
                       ScaleOf(node.operands[1]) / ScaleOf(&node));
  }
  return CheckSumFactor(
      node, 19, TwiceLarger(node) / ((1 << 20) * double{ScaleOf(&node)}));
}

absl::Status CheckExtremum(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckElements(node, ElementType::kInt32));
  for (const Node* operand : node.operands) {
    SYSTOLE_IR_RETURN_IF_ERROR(CheckSameQuantization(operand->type, node.type));
  }
  return CheckBroadcast(node);
}

absl::Status CheckSquaredDifference(const Node& node) {
  for (const Node* operand : node.operands) {
    SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(operand->type, "an operand"));
  }
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(node.type, "result"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckBroadcast(node));
  const double twice = TwiceLarger(node);
  const double factor = twice * twice / ((1 << 14) * double{ScaleOf(&node)});
  SYSTOLE_IR_RETURN_IF_ERROR(CheckFactor(factor));
  SYSTOLE_IR_CHECK(factor < 1 - 1e-9, "the square of scale ", twice / 2,
                   " is 2^12 times ", ScaleOf(&node), " or more");
  return absl::OkStatus();
}

absl::Status CheckPrelu(const Node& node) {
  for (const Node* operand : node.operands) {
    SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(operand->type, "an operand"));
  }
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(node.type, "result"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckBroadcast(node));
  const double factor = double{ScaleOf(node.operands[0])} / ScaleOf(&node);
  SYSTOLE_IR_RETURN_IF_ERROR(CheckFactor(factor));
  return CheckFactor(factor * ScaleOf(node.operands[1]));
}

absl::Status CheckCompare(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckTruth(node.type, "result"));
  for (const Node* operand : node.operands) {
    const Type& type = operand->type;
    if (Plain(type, ElementType::kInt32)) {
      SYSTOLE_IR_CHECK(Plain(node.operands[0]->type, ElementType::kInt32) &&
                           Plain(node.operands[1]->type, ElementType::kInt32),
                       TypeText(node.operands[0]->type), " and ",
                       TypeText(node.operands[1]->type), " are of two kinds");
      continue;
    }
    SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(type, "an operand"));
    // The scale itself is the multiplier.
    SYSTOLE_IR_CHECK(
        type.quantization->scale() < 1 || type.quantization->scale() == 1,
        "scale ", type.quantization->scale(), " is above 1");
  }
  return CheckBroadcast(node);
}

absl::Status CheckSelect(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckTruth(node.operands[0]->type, "condition"));
  for (int i : {1, 2}) {
    const Type& type = node.operands[i]->type;
    SYSTOLE_IR_CHECK(type.element == node.type.element, TypeText(type), " and ",
                     TypeText(node.type), " are of two kinds");
    SYSTOLE_IR_RETURN_IF_ERROR(CheckSameQuantization(type, node.type));
  }
  return CheckBroadcast(node);
}

absl::Status CheckRealFunction(const Node& node) {
  SYSTOLE_IR_CHECK(Plain(node.type, ElementType::kFloat32) &&
                       Plain(node.operands[0]->type, ElementType::kFloat32),
                   TypeText(node.operands[0]->type), " to ",
                   TypeText(node.type), " is not of floats");
  return CheckShape(node.type, node.operands[0]->type.shape);
}

absl::Status CheckFunction(const Node& node) {
  const Type& input = node.operands[0]->type;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckElements(node, ElementType::kFloat32));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckShape(node.type, input.shape));
  const float slope =
      node.op == Op::kLeakyRelu ? node.attr<SlopeAttributes>().slope : 1;
  SYSTOLE_IR_CHECK(std::isfinite(slope) && slope >= 0, "slope ", slope);
  if (!node.type.quantization) return absl::OkStatus();
  const double from = input.quantization->scale(), to = ScaleOf(&node);
  if (node.op == Op::kRsqrt) {
    const double factor = 1 / (std::sqrt(from) * to);
    SYSTOLE_IR_CHECK(
        std::ldexp(1.0, -11) <= factor && factor < std::ldexp(1.0, 29),
        "the scales make a factor of ", factor, ", not in 2^-11 .. 2^29");
    return absl::OkStatus();
  }
  // The largest result of the functions over 255 steps, in steps of the result,
  // must fit an int32.
  if (node.op == Op::kExp) {
    const int zero = input.quantization->zero_point;
    const double highest = std::exp(from * (127 - zero)) / to;
    SYSTOLE_IR_CHECK(highest < 1e9, "e^", from * (127 - zero),
                     " is too many steps of ", to);
  }
  SYSTOLE_IR_CHECK(from * 256 / to < 1e9, "scale ", from, " is too many of ",
                   to);
  return CheckFactor(from / to * (slope > 0 ? slope : 1));
}

}  // namespace systole::ir
