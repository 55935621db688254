// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Arithmetic on two operands, with sizes of 1 broadcast; comparisons,
// selections and conversions.
#include "host/import/float/float_operator.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;
using ir::Direction;

tflite::Activation ActivationOf(const tflite::Operator& op) {
  if (const auto* o = op.options_as_AddOptions()) return o->activation();
  if (const auto* o = op.options_as_SubOptions()) return o->activation();
  if (const auto* o = op.options_as_MulOptions()) return o->activation();
  if (const auto* o = op.options_as_DivOptions()) return o->activation();
  return tflite::Activation_NONE;
}

template <Op kOp>
void ImportBinary(FloatOperator& in) {
  const Value a = in.Real(0), b = in.Real(1);
  in.Set(in.nodes().Binary(kOp, a, b), ActivationOf(in.op()));
}

void ImportSquaredDifference(FloatOperator& in) {
  const Value d = in.nodes().Binary(Op::kHloSubtract, in.Real(0), in.Real(1));
  in.Set(in.nodes().Binary(Op::kHloMultiply, d, d));
}

// For integers: the truncated quotient, less 1 where the remainder is not 0 and
// its sign differs from the divisor's.
void ImportFloorDiv(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const Value a = in.Real(0), b = in.Real(1);
  const Value quotient = n.Binary(Op::kHloDivide, a, b);
  if (!in.ok()) return;
  if (ir::IsFloat(quotient.type().element)) {
    in.Set(n.Unary(Op::kHloFloor, quotient));
    return;
  }
  const Value rest = n.Binary(Op::kHloRemainder, a, b);
  const Value zero = n.Like(rest, 0);
  const Value below = n.AddOne(
      Op::kHloAnd,
      {n.Compare(Direction::kNe, rest, zero),
       n.AddOne(Op::kHloXor,
                {n.Compare(Direction::kLt, rest, zero),
                 n.Compare(Direction::kLt, n.BroadcastTo(b, rest.type().shape),
                           zero)})});
  in.Set(n.Select(below, n.Binary(Op::kHloSubtract, quotient, 1), quotient));
}

// The remainder has the sign of the divisor.
void ImportFloorMod(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const Value a = in.Real(0), b = in.Real(1);
  const Value rest = n.Binary(Op::kHloRemainder, a, b);
  if (!in.ok()) return;
  const Value zero = n.Like(rest, 0);
  const Value wide = n.BroadcastTo(b, rest.type().shape);
  const Value other = n.AddOne(
      Op::kHloAnd,
      {n.Compare(Direction::kNe, rest, zero),
       n.AddOne(Op::kHloXor, {n.Compare(Direction::kLt, rest, zero),
                              n.Compare(Direction::kLt, wide, zero)})});
  in.Set(n.Select(other, n.AddOne(Op::kHloAdd, {rest, wide}), rest));
}

template <Direction kDirection>
void ImportCompare(FloatOperator& in) {
  const Value a = in.Real(0), b = in.Real(1);
  in.Set(in.nodes().Compare(kDirection, a, b));
}

void ImportNot(FloatOperator& in) {
  in.Set(in.nodes().Unary(Op::kHloNot, in.Raw(0)));
}

// The condition of SELECT may be a vector along the first dimension.
void ImportSelect(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  Value condition = in.Raw(0);
  const Value yes = in.Real(1), no = in.Real(2);
  if (!in.ok()) return;
  const Ints& shape = yes.type().shape;
  if (condition.type().rank() == 1 && shape.size() > 1 &&
      shape == no.type().shape && condition.type().shape[0] == shape[0] &&
      condition.type().shape[0] != shape.back()) {
    condition = n.BroadcastInDim(condition, shape, {0});
  }
  in.Set(n.Select(condition, yes, no));
}

void ImportPrelu(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const Value x = in.Real(0), slope = in.Real(1);
  if (!in.ok()) return;
  const Value scaled = n.Binary(Op::kHloMultiply, x, slope);
  in.Set(n.Select(n.Compare(Direction::kGe, x, n.Like(x, 0)), x, scaled));
}

void ImportAddN(FloatOperator& in) {
  Value sum = in.Real(0);
  for (int i = 1; i < in.inputs() && in.ok(); ++i)
    sum = in.nodes().Binary(Op::kHloAdd, sum, in.Real(i));
  in.Set(sum);
}

void ImportCast(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const Value x = in.Raw(0);
  const ElementType to = in.ResultType().element;
  if (!in.ok()) return;
  // A number becomes the truth value of "not 0".
  in.Set(to == kI1 && x.type().element != kI1
             ? n.Compare(Direction::kNe, x, n.Like(x, 0))
             : n.Convert(x, to));
}

// QUANTIZE and DEQUANTIZE: Real and Set convert the values.
void ImportRequantise(FloatOperator& in) { in.Set(in.Real(0)); }

void ImportZerosLike(FloatOperator& in) {
  const Value x = in.Raw(0);
  if (in.ok()) in.Set(in.nodes().Like(x, 0));
}

}  // namespace

FloatRules ElementwiseRules() {
  return {
      {B::BuiltinOperator_ADD, ImportBinary<Op::kHloAdd>},
      {B::BuiltinOperator_SUB, ImportBinary<Op::kHloSubtract>},
      {B::BuiltinOperator_MUL, ImportBinary<Op::kHloMultiply>},
      {B::BuiltinOperator_DIV, ImportBinary<Op::kHloDivide>},
      {B::BuiltinOperator_MAXIMUM, ImportBinary<Op::kHloMaximum>},
      {B::BuiltinOperator_MINIMUM, ImportBinary<Op::kHloMinimum>},
      {B::BuiltinOperator_POW, ImportBinary<Op::kHloPower>},
      {B::BuiltinOperator_ATAN2, ImportBinary<Op::kHloAtan2>},
      {B::BuiltinOperator_LOGICAL_AND, ImportBinary<Op::kHloAnd>},
      {B::BuiltinOperator_LOGICAL_OR, ImportBinary<Op::kHloOr>},
      {B::BuiltinOperator_BITWISE_XOR, ImportBinary<Op::kHloXor>},
      {B::BuiltinOperator_SQUARED_DIFFERENCE, ImportSquaredDifference},
      {B::BuiltinOperator_FLOOR_DIV, ImportFloorDiv},
      {B::BuiltinOperator_FLOOR_MOD, ImportFloorMod},
      {B::BuiltinOperator_EQUAL, ImportCompare<Direction::kEq>},
      {B::BuiltinOperator_NOT_EQUAL, ImportCompare<Direction::kNe>},
      {B::BuiltinOperator_LESS, ImportCompare<Direction::kLt>},
      {B::BuiltinOperator_LESS_EQUAL, ImportCompare<Direction::kLe>},
      {B::BuiltinOperator_GREATER, ImportCompare<Direction::kGt>},
      {B::BuiltinOperator_GREATER_EQUAL, ImportCompare<Direction::kGe>},
      {B::BuiltinOperator_LOGICAL_NOT, ImportNot},
      {B::BuiltinOperator_SELECT, ImportSelect},
      {B::BuiltinOperator_SELECT_V2, ImportSelect},
      {B::BuiltinOperator_PRELU, ImportPrelu},
      {B::BuiltinOperator_ADD_N, ImportAddN},
      {B::BuiltinOperator_CAST, ImportCast},
      {B::BuiltinOperator_QUANTIZE, ImportRequantise},
      {B::BuiltinOperator_DEQUANTIZE, ImportRequantise},
      {B::BuiltinOperator_ZEROS_LIKE, ImportZerosLike},
  };
}

}  // namespace systole::import
