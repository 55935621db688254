// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Elementwise arithmetic and conversions.
#include <cmath>
#include <limits>

#include "host/import/onnx/operators.h"
#include "host/import/onnx/tensors.h"

namespace systole::import {
namespace {

using ir::Direction;
using ir::ElementType;

template <Op kOp>
Values Unary(OnnxNode& n) {
  return {n.b.Unary(kOp, n.In(0))};
}

template <Op kOp>
Values Binary(OnnxNode& n) {
  return {n.b.Binary(kOp, n.In(0), n.In(1))};
}

// Max, Min, Sum, with any number of operands.
template <Op kOp>
Values Fold(OnnxNode& n) {
  Value result = n.In(0);
  for (size_t i = 1; i < n.inputs.size(); ++i)
    result = n.b.Binary(kOp, result, n.In(i));
  return {result};
}

Values Mean(OnnxNode& n) {
  const Value sum = Fold<Op::kHloAdd>(n)[0];
  return {
      n.b.Binary(Op::kHloDivide, sum, static_cast<double>(n.inputs.size()))};
}

// The remainder has the sign of the divisor or, with fmod, of the dividend.
Values Mod(OnnxNode& n) {
  HloBuilder& b = n.b;
  const bool fmod = n.Int("fmod", 0) != 0;
  const Value x = n.In(0), y = n.In(1);
  const Value rest = b.Binary(Op::kHloRemainder, x, y);
  if (fmod || ir::IsUnsigned(rest.type().element)) return {rest};
  const Value turned =
      b.Binary(Op::kHloXor, b.Compare(Direction::kLt, rest, 0.0),
               b.Compare(Direction::kLt, y, 0.0));
  const Value add =
      b.Binary(Op::kHloAnd, turned, b.Compare(Direction::kNe, rest, 0.0));
  return {b.Select(add, b.Binary(Op::kHloAdd, rest, y), rest)};
}

// The result has the type of the base.
Values Pow(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0), y = n.In(1);
  const ElementType element = x.type().element;
  if (!n.Check(element != ElementType::kBool, "a power of truth values"))
    return {};
  if (y.type().elements() == 1 && y.type().rank() <= x.type().rank()) {
    const auto known = b.ConstantOf(y);
    if (known && NumbersOf(*known)[0] == 2)
      return {b.Binary(Op::kHloMultiply, x, x)};
  }
  if (ir::IsInteger(element) && ir::IsFloat(y.type().element)) {
    const Value power =
        b.Binary(Op::kHloPower, b.Convert(x, ElementType::kFloat32),
                 b.Convert(y, ElementType::kFloat32));
    return {b.Convert(power, element)};
  }
  return {b.Binary(Op::kHloPower, x, b.Convert(y, element))};
}

Values Reciprocal(OnnxNode& n) {
  const Value one = n.b.Scalar(n.Element(0), 1);
  return {n.b.Binary(Op::kHloDivide, one, n.In(0))};
}

Values CastTo(OnnxNode& n, ElementType element) {
  n.Ignore("saturate");    // for types of 8 bits and fewer
  n.Ignore("round_mode");  // likewise
  return {n.b.Convert(n.In(0), element)};
}

Values Cast(OnnxNode& n) {
  const auto element = OnnxElement(n.Int("to"));
  if (!element.ok()) return {n.b.Fail(element.status())};
  return CastTo(n, *element);
}

Values CastLike(OnnxNode& n) { return CastTo(n, n.Element(1)); }

Values Clip(OnnxNode& n) {
  HloBuilder& b = n.b;
  Value x = n.In(0);
  const ElementType element = x.type().element;
  const auto bound = [&](Op op, const char* name, size_t input) {
    if (n.opset < 11) {
      if (n.HasAttribute(name)) x = b.Binary(op, x, n.Float(name, 0));
    } else if (n.Has(input)) {
      const Value limit = n.In(input);
      n.Check(limit.type().elements() == 1, name, " is ",
              ir::TypeText(limit.type()), ", not a scalar");
      x = b.Binary(op, x, b.Convert(b.Reshape(limit, {}), element));
    }
  };
  bound(Op::kHloMaximum, "min", 1);
  bound(Op::kHloMinimum, "max", 2);
  return {x};
}

Values Where(OnnxNode& n) { return {n.b.Select(n.In(0), n.In(1), n.In(2))}; }

Values Identity(OnnxNode& n) { return {n.In(0)}; }

// Inference: a copy of the input, and a mask that is all true.
Values Dropout(OnnxNode& n) {
  n.Ignore("seed");
  n.Ignore("ratio");
  const Value x = n.In(0);
  if (n.Has(2)) {
    const std::vector<double> training = n.Numbers(2, "training_mode");
    const std::vector<double> ratio =
        n.Has(1) ? n.Numbers(1, "ratio") : std::vector<double>{0.5};
    if (!n.b.ok()) return {};
    if (!training.empty() && training[0] != 0 && !ratio.empty() &&
        ratio[0] != 0)
      return {n.Refuse("training: the results are random")};
  }
  return {x,
          n.b.BroadcastTo(n.b.Scalar(ElementType::kBool, 1), x.type().shape)};
}

}  // namespace

OnnxOperators ElementwiseOperators() {
  return {{"Abs", 1, 1, Unary<Op::kHloAbs>},
          {"Add", 2, 2, Binary<Op::kHloAdd>},
          {"Cast", 1, 1, Cast},
          {"CastLike", 2, 2, CastLike},
          {"Ceil", 1, 1, Unary<Op::kHloCeil>},
          {"Clip", 1, 3, Clip},
          {"Cos", 1, 1, Unary<Op::kHloCosine>},
          {"Div", 2, 2, Binary<Op::kHloDivide>},
          {"Dropout", 1, 3, Dropout},
          {"Exp", 1, 1, Unary<Op::kHloExponential>},
          {"Floor", 1, 1, Unary<Op::kHloFloor>},
          {"Identity", 1, 1, Identity},
          {"Log", 1, 1, Unary<Op::kHloLog>},
          {"Max", 1, kAnyNumber, Fold<Op::kHloMaximum>},
          {"Mean", 1, kAnyNumber, Mean},
          {"Min", 1, kAnyNumber, Fold<Op::kHloMinimum>},
          {"Mod", 2, 2, Mod},
          {"Mul", 2, 2, Binary<Op::kHloMultiply>},
          {"Neg", 1, 1, Unary<Op::kHloNegate>},
          {"Pow", 2, 2, Pow},
          {"Reciprocal", 1, 1, Reciprocal},
          {"Round", 1, 1, Unary<Op::kHloRoundNearestEven>},
          {"Sigmoid", 1, 1, Unary<Op::kHloLogistic>},
          {"Sign", 1, 1, Unary<Op::kHloSign>},
          {"Sin", 1, 1, Unary<Op::kHloSine>},
          {"Sqrt", 1, 1, Unary<Op::kHloSqrt>},
          {"Sub", 2, 2, Binary<Op::kHloSubtract>},
          {"Sum", 1, kAnyNumber, Fold<Op::kHloAdd>},
          {"Tan", 1, 1, Unary<Op::kHloTan>},
          {"Tanh", 1, 1, Unary<Op::kHloTanh>},
          {"Where", 3, 3, Where}};
}

}  // namespace systole::import
