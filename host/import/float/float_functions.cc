// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Activations and functions of one operand, in fp32.
#include "host/import/float/float_operator.h"

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
  HloNodes& n = in.nodes();
  const Value x = in.Real(0);
  if (!in.ok()) return;
  in.Set(n.With(Op::kHloMinimum, n.With(Op::kHloMaximum, x, 0), 1));
}

// x where it is not below 0, otherwise `other`.
void SetAbove(FloatOperator& in, Value x, Value other) {
  HloNodes& n = in.nodes();
  if (!in.ok()) return;
  in.Set(n.Select(n.Compare(Direction::kGe, x, n.Like(x, 0)), x, other));
}

void ImportLeakyRelu(FloatOperator& in) {
  const auto* o = in.Read(in.op().options_as_LeakyReluOptions());
  const Value x = in.Real(0);
  if (!in.ok()) return;
  SetAbove(in, x, in.nodes().With(Op::kHloMultiply, x, o->alpha()));
}

void ImportElu(FloatOperator& in) {
  const Value x = in.Real(0);
  SetAbove(in, x, in.nodes().Unary(Op::kHloExponentialMinusOne, x));
}

// x * min(max(x + 3, 0), 6) / 6
void ImportHardSwish(FloatOperator& in) {
  HloNodes& n = in.nodes();
  const Value x = in.Real(0);
  if (!in.ok()) return;
  const Value gate =
      in.Activated(n.With(Op::kHloAdd, x, 3), tflite::Activation_RELU6);
  in.Set(
      n.With(Op::kHloMultiply, n.Binary(Op::kHloMultiply, x, gate), 1.0 / 6));
}

Value Polynomial(HloNodes& n, Value x, const std::vector<double>& falling) {
  Value sum = n.Like(x, falling[0]);
  for (size_t i = 1; i < falling.size() && n.ok(); ++i)
    sum = n.With(Op::kHloAdd, n.Binary(Op::kHloMultiply, sum, x), falling[i]);
  return sum;
}

// The error function, x P(x^2) / Q(x^2) within -4 .. 4 and +-1 outside. The
// coefficients are a minimax fit of this form; in fp32 the error is below 5e-7.
Value ErrorFunction(HloNodes& n, Value x) {
  if (!n.ok()) return x;
  const ir::Type type = x.type();
  x = n.Make(Op::kHloClamp, {n.Number(kF32, -4), x, n.Number(kF32, 4)},
             ir::NoAttributes{}, &type);
  const Value s = n.Binary(Op::kHloMultiply, x, x);
  const Value p = Polynomial(n, s,
                             {1.97470821e-06, 0.000288024703, 0.00400344924,
                              0.0534669187, 0.196246137, 1.12837898});
  const Value q = Polynomial(n, s,
                             {3.74786846e-05, 0.00121628723, 0.0154440707,
                              0.116475077, 0.507249776, 1});
  return n.Binary(Op::kHloDivide, n.Binary(Op::kHloMultiply, x, p), q);
}

// x / 2 * (1 + erf(x / sqrt(2))), or with tanh(sqrt(2 / pi) (x + 0.044715 x^3))
// in place of the error function.
void ImportGelu(FloatOperator& in) {
  HloNodes& n = in.nodes();
  const auto* o = in.Read(in.op().options_as_GeluOptions());
  const Value x = in.Real(0);
  if (!in.ok()) return;
  constexpr double kRootHalf = 0.70710678118654752,
                   kRoot2OverPi = 0.79788456080286536;
  Value gate;
  if (o->approximate()) {
    const Value cube =
        n.Binary(Op::kHloMultiply, n.Binary(Op::kHloMultiply, x, x), x);
    gate = n.Unary(Op::kHloTanh,
                   n.With(Op::kHloMultiply,
                          n.Binary(Op::kHloAdd, x,
                                   n.With(Op::kHloMultiply, cube, 0.044715)),
                          kRoot2OverPi));
  } else {
    gate = ErrorFunction(n, n.With(Op::kHloMultiply, x, kRootHalf));
  }
  in.Set(n.Binary(Op::kHloMultiply, n.With(Op::kHloMultiply, x, 0.5),
                  n.With(Op::kHloAdd, gate, 1)));
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
