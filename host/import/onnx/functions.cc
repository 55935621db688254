// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/onnx/functions.h"

#include <cmath>
#include <limits>

#include "absl/strings/ascii.h"
#include "host/import/hlo/hlo_functions.h"
#include "host/import/onnx/operators.h"

namespace systole::import {
namespace {

using ir::Direction;

Value Times(HloBuilder& b, const Value& x, const Value& y) {
  return b.Binary(Op::kHloMultiply, x, y);
}
Value Times(HloBuilder& b, const Value& x, double y) {
  return b.Binary(Op::kHloMultiply, x, y);
}
Value Plus(HloBuilder& b, const Value& x, const Value& y) {
  return b.Binary(Op::kHloAdd, x, y);
}
Value Plus(HloBuilder& b, const Value& x, double y) {
  return b.Binary(Op::kHloAdd, x, y);
}
Value Minus(HloBuilder& b, double x, const Value& y) {
  return b.Binary(Op::kHloSubtract, b.Scalar(y.type().element, x), y);
}
Value Over(HloBuilder& b, const Value& x, const Value& y) {
  return b.Binary(Op::kHloDivide, x, y);
}
Value Negative(HloBuilder& b, const Value& x) {
  return b.Compare(Direction::kLt, x, 0.0);
}

Value Relu(HloBuilder& b, const Value& x) {
  return b.Binary(Op::kHloMaximum, x, 0.0);
}
Value Leaky(HloBuilder& b, const Value& x, double slope) {
  return b.Select(Negative(b, x), Times(b, x, slope), x);
}
// alpha * (e^(x / width) - 1) where x < 0, otherwise x.
Value Elu(HloBuilder& b, const Value& x, double alpha, double width) {
  const Value scaled = width == 1 ? x : b.Binary(Op::kHloDivide, x, width);
  const Value below =
      Times(b, b.Unary(Op::kHloExponentialMinusOne, scaled), alpha);
  return b.Select(Negative(b, x), below, x);
}
Value HardSigmoid(HloBuilder& b, const Value& x, double alpha, double beta) {
  const Value line = Plus(b, Times(b, x, alpha), beta);
  return b.Binary(Op::kHloMinimum, b.Binary(Op::kHloMaximum, line, 0.0), 1.0);
}
// log(1 + e^x), computed from |x| to avoid overflow.
Value Softplus(HloBuilder& b, const Value& x) {
  const Value size = b.Unary(Op::kHloAbs, x);
  const Value small =
      b.Unary(Op::kHloExponential, b.Unary(Op::kHloNegate, size));
  return Plus(b, Relu(b, x), b.Unary(Op::kHloLogPlusOne, small));
}
Value Swish(HloBuilder& b, const Value& x, double alpha) {
  const Value scaled = alpha == 1 ? x : Times(b, x, alpha);
  return Times(b, x, b.Unary(Op::kHloLogistic, scaled));
}
Value Softsign(HloBuilder& b, const Value& x) {
  return Over(b, x, Plus(b, b.Unary(Op::kHloAbs, x), 1.0));
}
Value Threshold(HloBuilder& b, const Value& x, double alpha) {
  return b.Select(b.Compare(Direction::kGt, x, alpha), x,
                  b.Scalar(x.type().element, 0));
}

// sqrt((1 - x) (1 + x))
Value Cathetus(HloBuilder& b, const Value& x) {
  return b.Unary(Op::kHloSqrt, Times(b, Minus(b, 1, x), Plus(b, x, 1.0)));
}
Value Asin(HloBuilder& b, const Value& x) {
  return b.Binary(Op::kHloAtan2, x, Cathetus(b, x));
}
Value Acos(HloBuilder& b, const Value& x) {
  return b.Binary(Op::kHloAtan2, Cathetus(b, x), x);
}
Value Atan(HloBuilder& b, const Value& x) {
  return b.Binary(Op::kHloAtan2, x, 1.0);
}
// (e^a - e^-a) / 2 with a = |x|. Where e^a would overflow, it is computed from
// e^(a/2).
Value Sinh(HloBuilder& b, const Value& x) {
  const Value a = b.Unary(Op::kHloAbs, x);
  const Value e = b.Unary(Op::kHloExponentialMinusOne, a);
  const Value near = Times(b, Plus(b, e, Over(b, e, Plus(b, e, 1.0))), 0.5);
  const Value root = b.Unary(Op::kHloExponential, Times(b, a, 0.5));
  const Value far = Times(b, Times(b, root, 0.5), root);
  return Times(b, b.Select(b.Compare(Direction::kLt, a, 10.0), near, far),
               b.Unary(Op::kHloSign, x));
}
Value Cosh(HloBuilder& b, const Value& x) {
  const Value half = Times(b, b.Unary(Op::kHloAbs, x), 0.5);
  const Value root = b.Unary(Op::kHloExponential, half);
  const Value small =
      b.Unary(Op::kHloExponential, b.Unary(Op::kHloNegate, half));
  return Plus(b, Times(b, Times(b, root, 0.5), root),
              Times(b, Times(b, small, 0.5), small));
}
// For large x: log(x) + log(2), because x^2 would overflow.
Value Asinh(HloBuilder& b, const Value& x) {
  const Value a = b.Unary(Op::kHloAbs, x);
  const Value square = Times(b, a, a);
  const Value root = b.Unary(Op::kHloSqrt, Plus(b, square, 1.0));
  const Value near = b.Unary(Op::kHloLogPlusOne,
                             Plus(b, a, Over(b, square, Plus(b, root, 1.0))));
  const Value far = Plus(b, b.Unary(Op::kHloLog, a), M_LN2);
  const Value limit =
      b.Scalar(x.type().element,
               x.type().element == ir::ElementType::kFloat16 ? 200 : 1e9);
  return Times(b, b.Select(b.Compare(Direction::kLt, a, limit), near, far),
               b.Unary(Op::kHloSign, x));
}
Value Acosh(HloBuilder& b, const Value& x) {
  const Value less = Plus(b, x, -1.0);
  const Value root = Times(b, b.Unary(Op::kHloSqrt, less),
                           b.Unary(Op::kHloSqrt, Plus(b, x, 1.0)));
  return b.Unary(Op::kHloLogPlusOne, Plus(b, less, root));
}
Value Atanh(HloBuilder& b, const Value& x) {
  const Value up = b.Unary(Op::kHloLogPlusOne, x);
  const Value down = b.Unary(Op::kHloLogPlusOne, b.Unary(Op::kHloNegate, x));
  return Times(b, b.Binary(Op::kHloSubtract, up, down), 0.5);
}

template <Value (*kFunction)(HloBuilder&, const Value&)>
Values Plain(OnnxNode& n) {
  return {kFunction(n.b, n.In(0))};
}
Values ConvertLeakyRelu(OnnxNode& n) {
  return {Leaky(n.b, n.In(0), n.Float("alpha", 0.01f))};
}
Values ConvertPRelu(OnnxNode& n) {
  const Value x = n.In(0);
  const Value below = Times(n.b, x, n.In(1));
  n.Check(below.type().shape == x.type().shape, "a slope of shape ",
          ir::ShapeText(n.Shape(1)), " for ", ir::TypeText(x.type()));
  return {n.b.Select(Negative(n.b, x), below, x)};
}
Values ConvertElu(OnnxNode& n) {
  return {Elu(n.b, n.In(0), n.Float("alpha", 1), 1)};
}
Values ConvertCelu(OnnxNode& n) {
  const float alpha = n.Float("alpha", 1);
  return {Elu(n.b, n.In(0), alpha, alpha)};
}
Values ConvertSelu(OnnxNode& n) {
  const float gamma = n.Float("gamma", 1.05070102214813232421875f);
  const float alpha = n.Float("alpha", 1.67326319217681884765625f);
  return {Times(n.b, Elu(n.b, n.In(0), alpha, 1), gamma)};
}
Values ConvertGelu(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  const std::string how = n.Text("approximate", "none");
  if (how == "none") return {Gelu(b, x)};
  if (!n.Check(how == "tanh", "approximate '", how, "'")) return {};
  return {GeluOfTanh(b, x)};
}
Values ConvertHardSigmoid(OnnxNode& n) {
  return {
      HardSigmoid(n.b, n.In(0), n.Float("alpha", 0.2f), n.Float("beta", 0.5f))};
}
Value HardSwish(HloBuilder& b, const Value& x) {
  return Times(b, x, HardSigmoid(b, x, 1.0 / 6, 0.5));
}
Value Mish(HloBuilder& b, const Value& x) {
  return Times(b, x, b.Unary(Op::kHloTanh, Softplus(b, x)));
}
Values ConvertSwish(OnnxNode& n) {
  return {Swish(n.b, n.In(0), n.Float("alpha", 1))};
}
Values ConvertSwiGlu(OnnxNode& n) {
  return {Times(n.b, Swish(n.b, n.In(0), n.Float("alpha", 1)), n.In(1))};
}
Values ConvertThreshold(OnnxNode& n) {
  return {Threshold(n.b, n.In(0), n.Float("alpha", 1))};
}
Values ConvertShrink(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  const double limit = n.Float("lambd", 0.5f), bias = n.Float("bias", 0);
  const Value zero = b.Scalar(x.type().element, 0);
  const Value up =
      b.Select(b.Compare(Direction::kGt, x, limit), Plus(b, x, -bias), zero);
  return {b.Select(b.Compare(Direction::kLt, x, -limit), Plus(b, x, bias), up)};
}

// Applies a softmax. Before opset 13, all dimensions from the axis on count as
// one.
Values Rows(OnnxNode& n,
            Value (*function)(HloBuilder&, const Value&, int64_t)) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  if (n.opset >= 13)
    return {function(b, x, n.Axis(n.Int("axis", -1), x.type().rank()))};
  const Ints shape = x.type().shape;
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = n.Int("axis", 1);
  if (!n.Check(-rank <= axis && axis <= rank, "axis ", axis, " of rank ", rank))
    return {};
  if (axis < 0) axis += rank;
  const Value flat =
      b.Reshape(x, {Product(shape, 0, axis), Product(shape, axis)});
  return {b.Reshape(function(b, flat, 1), shape)};
}
Value PlainSoftmax(HloBuilder& b, const Value& x, int64_t axis) {
  return Softmax(b, x, axis);
}
Values ConvertSoftmax(OnnxNode& n) { return Rows(n, PlainSoftmax); }
Values ConvertLogSoftmax(OnnxNode& n) { return Rows(n, LogSoftmax); }

// 1 at the first of the largest values, 0 elsewhere.
Value Hardmax(HloBuilder& b, const Value& x, int64_t axis) {
  const Value largest = b.Reduce(Op::kHloMaximum, x, {axis}, true);
  const ir::Type indices{ir::ElementType::kInt32, x.type().shape, {}};
  const Value i = b.Iota(indices, axis);
  const Value at = b.Select(b.Compare(Direction::kEq, x, largest), i,
                            b.Scalar(indices.element, 1 << 30));
  const Value first = b.Reduce(Op::kHloMinimum, at, {axis}, true);
  return b.Convert(b.Compare(Direction::kEq, i, first), x.type().element);
}
Values ConvertHardmax(OnnxNode& n) { return Rows(n, Hardmax); }

}  // namespace

Activation FindActivation(const std::string& name, float alpha, float beta) {
  const auto given = [](float value, float otherwise) {
    return std::isnan(value) ? otherwise : value;
  };
  const std::string key = absl::AsciiStrToLower(name);
  const auto unary = [](Op op) -> Activation {
    return [op](HloBuilder& b, const Value& x) { return b.Unary(op, x); };
  };
  if (key == "sigmoid") return unary(Op::kHloLogistic);
  if (key == "tanh") return unary(Op::kHloTanh);
  if (key == "relu") return Relu;
  if (key == "softplus") return Softplus;
  if (key == "softsign") return Softsign;
  if (key == "affine") {
    return [=](HloBuilder& b, const Value& x) {
      return Plus(b, Times(b, x, given(alpha, 1)), given(beta, 0));
    };
  }
  if (key == "leakyrelu") {
    return [=](HloBuilder& b, const Value& x) {
      return Leaky(b, x, given(alpha, 0.01f));
    };
  }
  if (key == "thresholdedrelu") {
    return [=](HloBuilder& b, const Value& x) {
      return Threshold(b, x, given(alpha, 1));
    };
  }
  if (key == "scaledtanh") {
    return [=](HloBuilder& b, const Value& x) {
      return Times(b, b.Unary(Op::kHloTanh, Times(b, x, given(beta, 1))),
                   given(alpha, 1));
    };
  }
  if (key == "hardsigmoid") {
    return [=](HloBuilder& b, const Value& x) {
      return HardSigmoid(b, x, given(alpha, 0.2f), given(beta, 0.5f));
    };
  }
  if (key == "elu") {
    return [=](HloBuilder& b, const Value& x) {
      return Elu(b, x, given(alpha, 1), 1);
    };
  }
  return nullptr;
}

OnnxOperators FunctionOperators() {
  return {{"Acos", 1, 1, Plain<Acos>},
          {"Acosh", 1, 1, Plain<Acosh>},
          {"Asin", 1, 1, Plain<Asin>},
          {"Asinh", 1, 1, Plain<Asinh>},
          {"Atan", 1, 1, Plain<Atan>},
          {"Atanh", 1, 1, Plain<Atanh>},
          {"Celu", 1, 1, ConvertCelu},
          {"Cosh", 1, 1, Plain<Cosh>},
          {"Elu", 1, 1, ConvertElu},
          {"Erf", 1, 1, Plain<Erf>},
          {"Gelu", 1, 1, ConvertGelu},
          {"HardSigmoid", 1, 1, ConvertHardSigmoid},
          {"HardSwish", 1, 1, Plain<HardSwish>},
          {"Hardmax", 1, 1, ConvertHardmax},
          {"LeakyRelu", 1, 1, ConvertLeakyRelu},
          {"LogSoftmax", 1, 1, ConvertLogSoftmax},
          {"Mish", 1, 1, Plain<Mish>},
          {"PRelu", 2, 2, ConvertPRelu},
          {"Relu", 1, 1, Plain<Relu>},
          {"Selu", 1, 1, ConvertSelu},
          {"Shrink", 1, 1, ConvertShrink},
          {"Sinh", 1, 1, Plain<Sinh>},
          {"Softmax", 1, 1, ConvertSoftmax},
          {"Softplus", 1, 1, Plain<Softplus>},
          {"Softsign", 1, 1, Plain<Softsign>},
          {"SwiGLU", 2, 2, ConvertSwiGlu},
          {"Swish", 1, 1, ConvertSwish},
          {"ThresholdedRelu", 1, 1, ConvertThreshold}};
}

}  // namespace systole::import
