// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Quantised operators as float32 arithmetic. Differences of 8-bit numbers are
// integers up to 255. bf16 represents these exactly, so one pass multiplies
// them. Sums below 2^24 are exact, too.
#include <algorithm>
#include <limits>

#include "host/import/onnx/operators.h"
#include "host/import/onnx/products.h"
#include "host/import/onnx/tensors.h"

namespace systole::import {
namespace {

using ir::ElementType;

constexpr ElementType kFloat = ElementType::kFloat32;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Up to this many products of differences of 8-bit numbers have an exact sum.
constexpr int64_t kExactTerms = (int64_t{1} << 24) / (255 * 255);

// Broadcasts scales or zero points to a tensor: one for all, one for each index
// of an axis, or one for each block of an axis.
Value Spread(OnnxNode& n, const Value& parameter, const Ints& shape,
             int64_t axis, int64_t block) {
  HloBuilder& b = n.b;
  const Ints& own = parameter.type().shape;
  if (parameter.type().elements() == 1) return b.Reshape(parameter, {});
  const int64_t rank = static_cast<int64_t>(shape.size());
  axis = n.Axis(axis, rank);
  if (!b.ok()) return parameter;
  if (block == 0) {
    if (!n.Check(own == Ints{shape[axis]}, "scales ",
                 ir::TypeText(parameter.type()), " for axis ", axis, " of ",
                 ir::ShapeText(shape)))
      return parameter;
    return b.BroadcastInDim(parameter, shape, {axis});
  }
  if (!n.Check(block > 0 && own.size() == shape.size() && rank < ir::kMaxRank &&
                   own[axis] == (shape[axis] + block - 1) / block,
               "blocks of ", block, " in ", ir::ShapeText(shape)))
    return parameter;
  Ints wide = own, joined = own, dims = Range(0, rank);
  wide.insert(wide.begin() + axis + 1, block);
  joined[axis] *= block;
  for (int64_t i = axis + 1; i < rank; ++i) ++dims[i];
  return b.SliceIn(b.Reshape(b.BroadcastInDim(parameter, wide, dims), joined),
                   axis, 0, shape[axis]);
}

double Least(ElementType element) {
  return NumbersOf(LiteralOf(element, {-kInfinity}))[0];
}
double Most(ElementType element) {
  return NumbersOf(LiteralOf(element, {kInfinity}))[0];
}

// round(x) + zero point, clamped to the type.
Value Quantized(HloBuilder& b, const Value& x, const Value& zero,
                ElementType element) {
  Value y = b.Convert(b.Unary(Op::kHloRoundNearestEven, x), kFloat);
  if (zero.node != nullptr)
    y = b.Binary(Op::kHloAdd, y, b.Convert(zero, kFloat));
  y = b.Binary(Op::kHloMaximum, y, Least(element));
  y = b.Binary(Op::kHloMinimum, y, Most(element));
  return b.Convert(y, element);
}

bool CheckQuantized(OnnxNode& n, ElementType element) {
  if (ir::IsInteger(element) && ir::ElementBytes(element) <= 2) return n.b.ok();
  n.Refuse("values of ", ir::ElementTypeName(element));
  return false;
}

Values DequantizeLinear(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0), scale = n.In(1);
  const int64_t axis = n.Int("axis", 1), block = n.Int("block_size", 0);
  const int64_t wanted = n.Int("output_dtype", 0);
  const auto type = wanted != 0 ? OnnxElement(wanted) : scale.type().element;
  if (!type.ok()) return {b.Fail(type.status())};
  if (!n.Check(ir::IsInteger(x.type().element), "values ",
               ir::TypeText(x.type())))
    return {};
  const Ints shape = x.type().shape;
  Value y = b.Convert(x, kFloat);
  if (n.Has(2)) {
    y = b.Binary(Op::kHloSubtract, y,
                 b.Convert(Spread(n, n.In(2), shape, axis, block), kFloat));
  }
  return {b.Binary(Op::kHloMultiply, b.Convert(y, *type),
                   b.Convert(Spread(n, scale, shape, axis, block), *type))};
}

Values QuantizeLinear(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0), scale = n.In(1);
  const int64_t axis = n.Int("axis", 1), block = n.Int("block_size", 0);
  const int64_t wanted = n.Int("output_dtype", 0);
  const int64_t precision = n.Int("precision", 0);
  n.Ignore("saturate");  // for 8-bit floats
  const auto element = wanted != 0 ? OnnxElement(wanted)
                       : n.Has(2)  ? n.Element(2)
                                   : ElementType::kUint8;
  const auto type =
      precision != 0 ? OnnxElement(precision) : scale.type().element;
  if (!element.ok()) return {b.Fail(element.status())};
  if (!type.ok()) return {b.Fail(type.status())};
  if (!CheckQuantized(n, *element)) return {};
  const Ints shape = x.type().shape;
  const Value divided =
      b.Binary(Op::kHloDivide, b.Convert(x, *type),
               b.Convert(Spread(n, scale, shape, axis, block), *type));
  const Value zero =
      n.Has(2) ? Spread(n, n.In(2), shape, axis, block) : Value();
  return {Quantized(b, divided, zero, *element)};
}

Values DynamicQuantizeLinear(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  if (!n.Check(x.type().element == kFloat, "values ", ir::TypeText(x.type())))
    return {};
  const Ints all = Range(0, x.type().rank());
  const Value low =
      b.Binary(Op::kHloMinimum, b.Reduce(Op::kHloMinimum, x, all, false), 0.0);
  const Value high =
      b.Binary(Op::kHloMaximum, b.Reduce(Op::kHloMaximum, x, all, false), 0.0);
  const Value scale =
      b.Binary(Op::kHloDivide, b.Binary(Op::kHloSubtract, high, low), 255.0);
  const Value zero = Quantized(
      b, b.Unary(Op::kHloNegate, b.Binary(Op::kHloDivide, low, scale)), Value(),
      ElementType::kUint8);
  return {Quantized(b, b.Binary(Op::kHloDivide, x, scale), zero,
                    ElementType::kUint8),
          scale, zero};
}

// x minus its zero point, in float32.
Value Centred(OnnxNode& n, size_t input, size_t zero, const Ints& dims) {
  HloBuilder& b = n.b;
  const Value x = n.In(input);
  if (!CheckQuantized(n, x.type().element) ||
      ir::ElementBytes(x.type().element) != 1)
    return n.Refuse("values of ", ir::ElementTypeName(x.type().element));
  Value y = b.Convert(x, kFloat);
  if (!n.Has(zero)) return y;
  Value point = b.Convert(n.In(zero), kFloat);
  if (point.type().elements() == 1) {
    point = b.Reshape(point, {});
  } else if (point.type().rank() == 1) {
    point = b.BroadcastInDim(point, x.type().shape, dims);
  }
  return b.Binary(Op::kHloSubtract, y, point);
}

// Multiplies differences in one bf16 pass.
template <typename Product>
Value Exactly(OnnxNode& n, const Product& product) {
  const ir::Precision precision = n.b.state().precision;
  n.b.state().precision = ir::Precision::kDefault;
  const Value result = product();
  n.b.state().precision = precision;
  return result;
}

// The axis of the rows of the left matrices; then that of the columns of the
// right ones.
Ints RowOf(OnnxNode& n, size_t i) {
  return {std::max<int64_t>(n.Rank(i) - 2, 0)};
}
Ints ColumnOf(OnnxNode& n, size_t i) {
  return {std::max<int64_t>(n.Rank(i) - 1, 0)};
}

// Sums that may exceed 2^24 are computed as integers.
Value IntegerSums(OnnxNode& n, const Value& x, const Value& y, int64_t terms,
                  const std::function<Value(const Value&, const Value&)>& f) {
  constexpr ElementType kInteger = ElementType::kInt32;
  if (terms <= kExactTerms)
    return n.b.Convert(Exactly(n, [&] { return f(x, y); }), kInteger);
  return f(n.b.Convert(x, kInteger), n.b.Convert(y, kInteger));
}

Values MatMulInteger(OnnxNode& n) {
  if (!n.CheckRank(0, 1) || !n.CheckRank(1, 1)) return {};
  const Value x = Centred(n, 0, 2, RowOf(n, 0)),
              y = Centred(n, 1, 3, ColumnOf(n, 1));
  if (!n.b.ok()) return {};
  return {IntegerSums(
      n, x, y, x.type().shape.back(),
      [&](const Value& a, const Value& b) { return MatMul(n.b, a, b); })};
}

Values ConvInteger(OnnxNode& n) {
  const Value x = Centred(n, 0, 2, {}), w = Centred(n, 1, 3, {0});
  if (!n.b.ok() || !n.CheckRank(1, 3)) return {};
  return {IntegerSums(
      n, x, w, Product(w.type().shape, 1),
      [&](const Value& a, const Value& b) { return Convolve(n, a, b); })};
}

Values QLinearMatMul(OnnxNode& n) {
  HloBuilder& b = n.b;
  if (!n.CheckRank(0, 1) || !n.CheckRank(3, 1)) return {};
  const Value x = Centred(n, 0, 2, RowOf(n, 0)),
              y = Centred(n, 3, 5, ColumnOf(n, 3));
  const Value sums = Exactly(n, [&] { return MatMul(b, x, y); });
  const auto scale = [&](size_t i, bool rows) {
    Value s = b.Convert(n.In(i), kFloat);
    if (s.type().elements() == 1) return b.Reshape(s, {});
    if (rows && s.type().rank() == 1) s = b.Reshape(s, {s.type().shape[0], 1});
    return s;
  };
  const Value factor =
      b.Binary(Op::kHloDivide,
               b.Binary(Op::kHloMultiply, scale(1, true), scale(4, false)),
               b.Reshape(b.Convert(n.In(6), kFloat), {}));
  const Value zero = b.Reshape(n.In(7), {});
  if (!CheckQuantized(n, zero.type().element)) return {};
  return {Quantized(b, b.Binary(Op::kHloMultiply, sums, factor), zero,
                    zero.type().element)};
}

Values QLinearConv(OnnxNode& n) {
  HloBuilder& b = n.b;
  if (!n.CheckRank(0, 3) || !n.CheckRank(3, 3)) return {};
  const Value x = Centred(n, 0, 2, {}), w = Centred(n, 3, 5, {0});
  Value sums = Exactly(n, [&] { return Convolve(n, x, w); });
  const auto features = [&](const Value& v) {
    if (v.type().elements() == 1) return b.Reshape(v, {});
    if (!n.Check(v.type().rank() == 1, "values ", ir::TypeText(v.type())))
      return v;
    return b.BroadcastInDim(v, sums.type().shape, {1});
  };
  if (n.Has(8)) {
    sums = b.Binary(Op::kHloAdd, sums, features(b.Convert(n.In(8), kFloat)));
  }
  const Value factor = b.Binary(
      Op::kHloDivide,
      b.Binary(Op::kHloMultiply, b.Reshape(b.Convert(n.In(1), kFloat), {}),
               b.Convert(n.In(4), kFloat)),
      b.Reshape(b.Convert(n.In(6), kFloat), {}));
  const Value zero = b.Reshape(n.In(7), {});
  if (!CheckQuantized(n, zero.type().element)) return {};
  return {Quantized(b, b.Binary(Op::kHloMultiply, sums, features(factor)), zero,
                    zero.type().element)};
}

}  // namespace

OnnxOperators QuantizedOperators() {
  return {{"ConvInteger", 2, 4, ConvInteger},
          {"DequantizeLinear", 2, 3, DequantizeLinear},
          {"DynamicQuantizeLinear", 1, 1, DynamicQuantizeLinear},
          {"MatMulInteger", 2, 4, MatMulInteger},
          {"QLinearConv", 8, 9, QLinearConv},
          {"QLinearMatMul", 8, 8, QLinearMatMul},
          {"QuantizeLinear", 2, 3, QuantizeLinear}};
}

}  // namespace systole::import
