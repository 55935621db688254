// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Normalisations.
#include <algorithm>
#include <cmath>

#include "host/import/onnx/operators.h"

namespace systole::import {
namespace {

using ir::ElementType;

Value Mean(HloBuilder& b, const Value& x, const Ints& axes) {
  int64_t count = 1;
  for (const int64_t axis : axes) count *= x.type().shape[axis];
  return b.Binary(Op::kHloDivide, b.Reduce(Op::kHloAdd, x, axes, true),
                  static_cast<double>(count));
}
Value Square(HloBuilder& b, const Value& x) {
  return b.Binary(Op::kHloMultiply, x, x);
}
Value OneOverRoot(HloBuilder& b, const Value& variance, double epsilon) {
  return b.Unary(Op::kHloRsqrt, b.Binary(Op::kHloAdd, variance, epsilon));
}

// (x - mean) / standard deviation over these axes.
struct Normalized {
  Value values, mean, inverse;
};
Normalized Normalize(HloBuilder& b, const Value& x, const Ints& axes,
                     double epsilon) {
  const Value mean = Mean(b, x, axes);
  const Value less = b.Binary(Op::kHloSubtract, x, mean);
  const Value inverse = OneOverRoot(b, Mean(b, Square(b, less), axes), epsilon);
  return {b.Binary(Op::kHloMultiply, less, inverse), mean, inverse};
}

// Broadcasts per-feature values along dimension 1.
Value Features(OnnxNode& n, const Value& values, const Ints& shape) {
  if (!n.Check(values.type().rank() == 1 && shape.size() >= 2,
               "not one value of each feature: ", ir::TypeText(values.type())))
    return values;
  return n.b.BroadcastInDim(values, shape, {1});
}

Values BatchNormalization(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  const double epsilon = n.Float("epsilon", 1e-5f);
  const double momentum = n.Float("momentum", 0.9f);
  n.Ignore("spatial");
  if (!n.CheckRank(0, 2)) return {};
  if (n.Int("spatial", 1) == 0) return {n.Refuse("spatial = 0")};
  const Ints shape = x.type().shape;
  const auto vector = [&](size_t i) { return n.In(i); };
  if (n.Int("training_mode", 0) == 0) {
    const Value scale = b.Binary(Op::kHloMultiply, vector(1),
                                 OneOverRoot(b, vector(4), epsilon));
    const Value offset = b.Binary(Op::kHloSubtract, vector(2),
                                  b.Binary(Op::kHloMultiply, vector(3), scale));
    const Value scaled =
        b.Binary(Op::kHloMultiply, x, Features(n, scale, shape));
    return {b.Binary(Op::kHloAdd, scaled, Features(n, offset, shape))};
  }
  Ints axes = Range(2, x.type().rank());
  axes.insert(axes.begin(), 0);
  const Value mean = Mean(b, x, axes);
  const Value less = b.Binary(Op::kHloSubtract, x, mean);
  const Value variance = Mean(b, Square(b, less), axes);
  const Value scaled = b.Binary(
      Op::kHloMultiply,
      b.Binary(Op::kHloMultiply, less, OneOverRoot(b, variance, epsilon)),
      Features(n, vector(1), shape));
  const auto running = [&](const Value& before, const Value& now) {
    const Value flat = b.Reshape(now, {shape[1]});
    return b.Binary(Op::kHloAdd, b.Binary(Op::kHloMultiply, before, momentum),
                    b.Binary(Op::kHloMultiply, flat, 1 - momentum));
  };
  return {b.Binary(Op::kHloAdd, scaled, Features(n, vector(2), shape)),
          running(vector(3), mean), running(vector(4), variance)};
}

Values InstanceNormalization(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  if (!n.CheckRank(0, 3)) return {};
  const Ints shape = x.type().shape;
  const Value values =
      Normalize(b, x, Range(2, x.type().rank()), n.Float("epsilon", 1e-5f))
          .values;
  const Value scaled =
      b.Binary(Op::kHloMultiply, values, Features(n, n.In(1), shape));
  return {b.Binary(Op::kHloAdd, scaled, Features(n, n.In(2), shape))};
}

// Computes in float32, or in the operand's type if stash_type says so.
bool Stash(OnnxNode& n, ElementType& element) {
  const int64_t type = n.Int("stash_type", 1);
  if (type == 1) element = ElementType::kFloat32;
  if (type != 1 && type != 10 && type != 16) n.Refuse("stash_type ", type);
  return n.b.ok();
}

Values LayerNormalization(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  ElementType element = x.type().element;
  const double epsilon = n.Float("epsilon", 1e-5f);
  const int64_t axis = n.Axis(n.Int("axis", -1), x.type().rank());
  if (!Stash(n, element)) return {};
  const Normalized y = Normalize(b, b.Convert(x, element),
                                 Range(axis, x.type().rank()), epsilon);
  Value values = b.Binary(Op::kHloMultiply,
                          b.Convert(y.values, x.type().element), n.In(1));
  if (n.Has(2)) values = b.Binary(Op::kHloAdd, values, n.In(2));
  return {values, y.mean, y.inverse};
}

Values RmsNormalization(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  ElementType element = x.type().element;
  const double epsilon = n.Float("epsilon", 1e-5f);
  const int64_t axis = n.Axis(n.Int("axis", -1), x.type().rank());
  if (!Stash(n, element)) return {};
  const Value wide = b.Convert(x, element);
  const Value inverse = OneOverRoot(
      b, Mean(b, Square(b, wide), Range(axis, x.type().rank())), epsilon);
  return {b.Binary(
      Op::kHloMultiply,
      b.Convert(b.Binary(Op::kHloMultiply, wide, inverse), x.type().element),
      n.In(1))};
}

// Scale and bias have one value per group before opset 21, one per feature
// since then.
Values GroupNormalization(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  ElementType element = x.type().element;
  const int64_t groups = n.Int("num_groups");
  const double epsilon = n.Float("epsilon", 1e-5f);
  if (!n.CheckRank(0, 2) || !Stash(n, element)) return {};
  const Ints shape = x.type().shape;
  if (!n.Check(groups >= 1 && shape[1] % groups == 0, groups, " groups of ",
               ir::TypeText(x.type())))
    return {};
  Ints split = {shape[0], groups, shape[1] / groups * Product(shape, 2)};
  const Value values = b.Convert(
      b.Reshape(
          Normalize(b, b.Convert(b.Reshape(x, split), element), {2}, epsilon)
              .values,
          shape),
      x.type().element);
  const auto spread = [&](const Value& v) {
    if (n.opset >= 21 || !b.ok() ||
        !n.Check(v.type().shape == Ints{groups}, "not one value of each group"))
      return v;
    return b.Reshape(b.BroadcastInDim(v, {groups, shape[1] / groups}, {0}),
                     {shape[1]});
  };
  const Value scaled =
      b.Binary(Op::kHloMultiply, values, Features(n, spread(n.In(1)), shape));
  return {b.Binary(Op::kHloAdd, scaled, Features(n, spread(n.In(2)), shape))};
}

Values LpNormalization(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  const int64_t axis = n.Axis(n.Int("axis", -1), x.type().rank());
  const int64_t p = n.Int("p", 2);
  if (!n.Check(p == 1 || p == 2, "p = ", p)) return {};
  const Value sizes = p == 1 ? b.Unary(Op::kHloAbs, x) : Square(b, x);
  Value norm = b.Reduce(Op::kHloAdd, sizes, {axis}, true);
  if (p == 2) norm = b.Unary(Op::kHloSqrt, norm);
  // A norm of 0 gives 0.
  const Value zero = b.Scalar(x.type().element, 0);
  const Value divisor = b.Select(b.Compare(ir::Direction::kEq, norm, zero),
                                 b.Scalar(x.type().element, 1), norm);
  return {b.Binary(Op::kHloDivide, x, divisor)};
}

// Normalises over a window of features.
Values Lrn(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  const int64_t size = n.Int("size");
  const double alpha = n.Float("alpha", 1e-4f), beta = n.Float("beta", 0.75f),
               bias = n.Float("bias", 1);
  if (!n.CheckRank(0, 2) || !n.Check(size >= 1, "size ", size)) return {};
  const Ints ones(x.type().rank(), 1), zeros(x.type().rank(), 0);
  ir::HloWindowAttributes window{ones, ones, ones, ones, zeros, zeros};
  window.window[1] = size;
  window.low[1] = (size - 1) / 2;
  window.high[1] = size - 1 - window.low[1];
  const Value sum = b.ReduceWindow(Op::kHloAdd, Square(b, x), window);
  const Value base = b.Binary(
      Op::kHloAdd,
      b.Binary(Op::kHloMultiply, sum, alpha / static_cast<double>(size)), bias);
  return {b.Binary(Op::kHloMultiply, x, b.Binary(Op::kHloPower, base, -beta))};
}

Values MeanVarianceNormalization(OnnxNode& n) {
  const Value x = n.In(0);
  const Ints axes = n.Axes(n.List("axes", {0, 2, 3}), x.type().rank());
  if (!n.b.ok()) return {};
  return {Normalize(n.b, x, axes, 1e-9).values};
}

}  // namespace

OnnxOperators NormalizationOperators() {
  return {{"BatchNormalization", 5, 5, BatchNormalization},
          {"GroupNormalization", 3, 3, GroupNormalization},
          {"InstanceNormalization", 3, 3, InstanceNormalization},
          {"LRN", 1, 1, Lrn},
          {"LayerNormalization", 2, 3, LayerNormalization},
          {"LpNormalization", 1, 1, LpNormalization},
          {"MeanVarianceNormalization", 1, 1, MeanVarianceNormalization},
          {"RMSNormalization", 2, 2, RmsNormalization}};
}

}  // namespace systole::import
