// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/hlo/rules.h"

namespace systole::ir {
namespace {

enum Kinds : unsigned { kBools = 1, kIntegers = 2, kFloats = 4, kAll = 7 };

unsigned KindOf(ElementType type) {
  if (type == ElementType::kBool) return kBools;
  return IsFloat(type) ? kFloats : kIntegers;
}

// The element types that an elementwise operation accepts.
unsigned KindsOf(Op op) {
  switch (op) {
    case Op::kHloAdd:
    case Op::kHloMultiply:
    case Op::kHloMaximum:
    case Op::kHloMinimum:
      return kAll;
    case Op::kHloAnd:
    case Op::kHloOr:
    case Op::kHloXor:
    case Op::kHloNot:
      return kBools | kIntegers;
    case Op::kHloShiftLeft:
    case Op::kHloShiftRightLogical:
    case Op::kHloShiftRightArithmetic:
    case Op::kHloPopcnt:
    case Op::kHloCountLeadingZeros:
      return kIntegers;
    case Op::kHloSubtract:
    case Op::kHloDivide:
    case Op::kHloRemainder:
    case Op::kHloPower:
    case Op::kHloAbs:
    case Op::kHloNegate:
    case Op::kHloSign:
      return kIntegers | kFloats;
    default:
      return kFloats;
  }
}

absl::Status CheckKind(const Node& node) {
  const Type& type = node.operands[0].type();
  SYSTOLE_IR_CHECK((KindsOf(node.op) & KindOf(type.element)) != 0,
                   TypeText(type), " is no type of the operation");
  const bool of_sign = node.op == Op::kHloAbs || node.op == Op::kHloSign;
  SYSTOLE_IR_CHECK(!of_sign || !IsUnsigned(type.element), TypeText(type),
                   " is no type of the operation");
  return absl::OkStatus();
}

absl::Status CheckEqual(const Node& node, int a, int b) {
  SYSTOLE_IR_CHECK(node.operands[a].type() == node.operands[b].type(),
                   TypeText(node.operands[a].type()), " and ",
                   TypeText(node.operands[b].type()), " differ");
  return absl::OkStatus();
}

}  // namespace

Types InferBinary(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckKind(node));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckEqual(node, 0, 1));
  return std::vector<Type>{node.operands[0].type()};
}

Types InferUnary(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckKind(node));
  return std::vector<Type>{node.operands[0].type()};
}

Types InferIsFinite(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckKind(node));
  return std::vector<Type>{
      {ElementType::kBool, node.operands[0].type().shape, {}}};
}

Types InferReducePrecision(const Node& node) {
  const auto& a = node.attr<HloReducePrecisionAttributes>();
  SYSTOLE_IR_CHECK(1 <= a.exponent_bits && a.exponent_bits <= 64 &&
                       0 <= a.mantissa_bits && a.mantissa_bits <= 64,
                   a.exponent_bits, " exponent and ", a.mantissa_bits,
                   " mantissa bits");
  return InferUnary(node);
}

Types InferCompare(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckEqual(node, 0, 1));
  const Type& type = node.operands[0].type();
  const CompareType compared = node.attr<HloCompareAttributes>().type;
  const bool of_floats =
      compared == CompareType::kFloat || compared == CompareType::kTotalOrder;
  SYSTOLE_IR_CHECK(
      compared == CompareType::kDefault || of_floats == IsFloat(type.element),
      TypeText(type), " is not compared as ",
      EnumNames<CompareType>::kNames[static_cast<int>(compared)]);
  return std::vector<Type>{{ElementType::kBool, type.shape, {}}};
}

Types InferSelect(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckEqual(node, 1, 2));
  const Type& condition = node.operands[0].type();
  const Type& chosen = node.operands[1].type();
  SYSTOLE_IR_CHECK(
      condition.element == ElementType::kBool &&
          (condition.rank() == 0 || condition.shape == chosen.shape),
      "the condition is ", TypeText(condition), ", not i1[] or i1",
      ShapeText(chosen.shape));
  return std::vector<Type>{chosen};
}

Types InferClamp(const Node& node) {
  const Type& type = node.operands[1].type();
  for (int i : {0, 2}) {
    const Type& limit = node.operands[i].type();
    SYSTOLE_IR_CHECK(limit.element == type.element &&
                         (limit.rank() == 0 || limit.shape == type.shape),
                     "a limit is ", TypeText(limit), " for ", TypeText(type));
  }
  return std::vector<Type>{type};
}

Types InferConvert(const Node& node) {
  return std::vector<Type>{
      {node.type.element, node.operands[0].type().shape, {}}};
}

Types InferBitcastConvert(const Node& node) {
  const Type& from = node.operands[0].type();
  const int bytes = ElementBytes(from.element);
  const int wanted = ElementBytes(node.type.element);
  SYSTOLE_IR_CHECK((from.element == ElementType::kBool) ==
                       (node.type.element == ElementType::kBool),
                   TypeText(from), " has no bits of ", TypeText(node.type));
  std::vector<int64_t> shape = from.shape;
  if (bytes < wanted) {
    SYSTOLE_IR_CHECK(!shape.empty() && shape.back() == wanted / bytes,
                     "the last dimension of ", TypeText(from), " is not ",
                     wanted / bytes);
    shape.pop_back();
  } else if (bytes > wanted) {
    shape.push_back(bytes / wanted);
  }
  return std::vector<Type>{{node.type.element, shape, {}}};
}

Types InferIota(const Node& node) {
  const int64_t dimension = node.attr<HloDimensionAttributes>().dimension;
  SYSTOLE_IR_CHECK(0 <= dimension && dimension < node.type.rank(), "dimension ",
                   dimension, " of ", TypeText(node.type));
  SYSTOLE_IR_CHECK(node.type.element != ElementType::kBool, TypeText(node.type),
                   " is no type of the operation");
  return std::vector<Type>{node.type};
}

Types InferSame(const Node& node) {
  std::vector<Type> types;
  for (const Value& operand : node.operands) types.push_back(operand.type());
  return types;
}

}  // namespace systole::ir
