// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Comparisons, logic and bit operations.
#include <limits>

#include "host/import/onnx/operators.h"
#include "host/import/onnx/tensors.h"

namespace systole::import {
namespace {

using ir::Direction;
using ir::ElementType;

template <Direction kDirection>
Values Compare(OnnxNode& n) {
  return {n.b.Compare(kDirection, n.In(0), n.In(1))};
}

bool CheckKind(OnnxNode& n, bool truth) {
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    const ir::Type type = n.In(i).type();
    if (!n.Check((type.element == ElementType::kBool) == truth &&
                     !ir::IsFloat(type.element),
                 "input ", i, " is ", ir::TypeText(type)))
      return false;
  }
  return n.b.ok();
}

template <Op kOp, bool kTruth>
Values Logic(OnnxNode& n) {
  if (!CheckKind(n, kTruth)) return {};
  return {n.b.Binary(kOp, n.In(0), n.In(1))};
}

template <bool kTruth>
Values Not(OnnxNode& n) {
  if (!CheckKind(n, kTruth)) return {};
  return {n.b.Unary(Op::kHloNot, n.In(0))};
}

Values BitShift(OnnxNode& n) {
  if (!CheckKind(n, false)) return {};
  const std::string direction = n.Text("direction", "");
  if (direction == "LEFT")
    return {n.b.Binary(Op::kHloShiftLeft, n.In(0), n.In(1))};
  if (!n.Check(direction == "RIGHT", "direction '", direction, "'")) return {};
  return {n.b.Binary(ir::IsUnsigned(n.Element(0))
                         ? Op::kHloShiftRightLogical
                         : Op::kHloShiftRightArithmetic,
                     n.In(0), n.In(1))};
}

Values BitCast(OnnxNode& n) {
  const auto element = OnnxElement(n.Int("to"));
  if (!element.ok()) return {n.b.Fail(element.status())};
  const Value x = n.In(0);
  if (!n.Check(ir::ElementBytes(*element) == ir::ElementBytes(x.type().element),
               "types of other sizes"))
    return {};
  if (*element == x.type().element) return {x};
  if (*element == ElementType::kBool ||
      x.type().element == ElementType::kBool) {
    // A truth value is a byte of 0 or 1.
    return {n.b.Convert(x, *element)};
  }
  return {n.b.AddOne(Op::kHloBitcastConvert, {x}, {},
                     ir::Type{*element, x.type().shape, {}})};
}

Values IsNaN(OnnxNode& n) {
  return {n.b.Compare(Direction::kNe, n.In(0), n.In(0))};
}

Values IsInf(OnnxNode& n) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool positive = n.Int("detect_positive", 1) != 0;
  const bool negative = n.Int("detect_negative", 1) != 0;
  const Value x = n.In(0);
  if (!n.Check(ir::IsFloat(x.type().element), "input 0 is ",
               ir::TypeText(x.type())))
    return {};
  if (!positive && !negative) {
    return {n.b.BroadcastTo(n.b.Scalar(ElementType::kBool, 0), x.type().shape)};
  }
  const Value size = positive && negative ? n.b.Unary(Op::kHloAbs, x) : x;
  return {n.b.Compare(Direction::kEq, size, positive ? kInfinity : -kInfinity)};
}

}  // namespace

OnnxOperators IntegerOperators() {
  return {{"And", 2, 2, Logic<Op::kHloAnd, true>},
          {"BitCast", 1, 1, BitCast},
          {"BitShift", 2, 2, BitShift},
          {"BitwiseAnd", 2, 2, Logic<Op::kHloAnd, false>},
          {"BitwiseNot", 1, 1, Not<false>},
          {"BitwiseOr", 2, 2, Logic<Op::kHloOr, false>},
          {"BitwiseXor", 2, 2, Logic<Op::kHloXor, false>},
          {"Equal", 2, 2, Compare<Direction::kEq>},
          {"Greater", 2, 2, Compare<Direction::kGt>},
          {"GreaterOrEqual", 2, 2, Compare<Direction::kGe>},
          {"IsInf", 1, 1, IsInf},
          {"IsNaN", 1, 1, IsNaN},
          {"Less", 2, 2, Compare<Direction::kLt>},
          {"LessOrEqual", 2, 2, Compare<Direction::kLe>},
          {"Not", 1, 1, Not<true>},
          {"Or", 2, 2, Logic<Op::kHloOr, true>},
          {"Xor", 2, 2, Logic<Op::kHloXor, true>}};
}

}  // namespace systole::import
