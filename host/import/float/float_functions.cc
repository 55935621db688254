// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Activations and functions of one operand, in fp32.
#include "host/import/float/float_operator.h"
#include "host/import/hlo/hlo_functions.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;
using ir::Direction;

template <Op kOp>
void ImportUnary(FloatOperator& in) {
  in.Set(in.nodes().Unary(kOp, in.Real(0)));
}

void ImportSquare(FloatOperator& in) {
  const Value x = in.Real(0);
  in.Set(in.nodes().Binary(Op::kHloMultiply, x, x));
}

template <tflite::Activation kActivation>
void ImportActivation(FloatOperator& in) {
  in.Set(in.Real(0), kActivation);
}

void ImportRelu0To1(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const Value x = in.Real(0);
  if (!in.ok()) return;
  in.Set(n.Binary(Op::kHloMinimum, n.Binary(Op::kHloMaximum, x, 0), 1));
}

// x where x >= 0, otherwise `other`.
void SetAbove(FloatOperator& in, Value x, Value other) {
  HloBuilder& n = in.nodes();
  if (!in.ok()) return;
  in.Set(n.Select(n.Compare(Direction::kGe, x, n.Like(x, 0)), x, other));
}

void ImportLeakyRelu(FloatOperator& in) {
  const auto* o = in.Read(in.op().options_as_LeakyReluOptions());
  const Value x = in.Real(0);
  if (!in.ok()) return;
  SetAbove(in, x, in.nodes().Binary(Op::kHloMultiply, x, o->alpha()));
}

void ImportElu(FloatOperator& in) {
  const Value x = in.Real(0);
  SetAbove(in, x, in.nodes().Unary(Op::kHloExponentialMinusOne, x));
}

// x * min(max(x + 3, 0), 6) / 6
void ImportHardSwish(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const Value x = in.Real(0);
  if (!in.ok()) return;
  const Value gate =
      in.Activated(n.Binary(Op::kHloAdd, x, 3), tflite::Activation_RELU6);
  in.Set(
      n.Binary(Op::kHloMultiply, n.Binary(Op::kHloMultiply, x, gate), 1.0 / 6));
}

void ImportGelu(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const auto* o = in.Read(in.op().options_as_GeluOptions());
  const Value x = in.Real(0);
  if (!in.ok()) return;
  in.Set(o->approximate() ? GeluOfTanh(n, x) : Gelu(n, x));
}

}  // namespace

FloatRules FunctionRules() {
  return {
      {B::BuiltinOperator_ABS, ImportUnary<Op::kHloAbs>},
      {B::BuiltinOperator_NEG, ImportUnary<Op::kHloNegate>},
      {B::BuiltinOperator_SIGN, ImportUnary<Op::kHloSign>},
      {B::BuiltinOperator_EXP, ImportUnary<Op::kHloExponential>},
      {B::BuiltinOperator_LOG, ImportUnary<Op::kHloLog>},
      {B::BuiltinOperator_SQRT, ImportUnary<Op::kHloSqrt>},
      {B::BuiltinOperator_RSQRT, ImportUnary<Op::kHloRsqrt>},
      {B::BuiltinOperator_SIN, ImportUnary<Op::kHloSine>},
      {B::BuiltinOperator_COS, ImportUnary<Op::kHloCosine>},
      {B::BuiltinOperator_FLOOR, ImportUnary<Op::kHloFloor>},
      {B::BuiltinOperator_CEIL, ImportUnary<Op::kHloCeil>},
      {B::BuiltinOperator_ROUND, ImportUnary<Op::kHloRoundNearestEven>},
      {B::BuiltinOperator_LOGISTIC, ImportUnary<Op::kHloLogistic>},
      {B::BuiltinOperator_TANH, ImportUnary<Op::kHloTanh>},
      {B::BuiltinOperator_SQUARE, ImportSquare},
      {B::BuiltinOperator_RELU, ImportActivation<tflite::Activation_RELU>},
      {B::BuiltinOperator_RELU6, ImportActivation<tflite::Activation_RELU6>},
      {B::BuiltinOperator_RELU_N1_TO_1,
       ImportActivation<tflite::Activation_RELU_N1_TO_1>},
      {B::BuiltinOperator_RELU_0_TO_1, ImportRelu0To1},
      {B::BuiltinOperator_LEAKY_RELU, ImportLeakyRelu},
      {B::BuiltinOperator_ELU, ImportElu},
      {B::BuiltinOperator_HARD_SWISH, ImportHardSwish},
      {B::BuiltinOperator_GELU, ImportGelu},
  };
}

}  // namespace systole::import
