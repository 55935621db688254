// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators on shapes, and on values that follow from shapes.
#include <algorithm>
#include <cmath>

#include "host/import/onnx/operators.h"
#include "host/import/onnx/tensors.h"

namespace systole::import {
namespace {

using ir::ElementType;
using Kind = OnnxAttribute::Kind;

Values Shape(OnnxNode& n) {
  const Ints shape = n.Shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const auto clamped = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t first = clamped(n.Int("start", 0));
  const int64_t limit = std::max(first, clamped(n.Int("end", rank)));
  if (!n.b.ok()) return {};
  return {n.b.Integers({shape.begin() + first, shape.begin() + limit})};
}

Values Size(OnnxNode& n) {
  return {n.b.Reshape(n.b.Integers({n.In(0).type().elements()}), {})};
}

Values Constant(OnnxNode& n) {
  HloBuilder& b = n.b;
  if (n.attributes.size() != 1) return {n.Wrong("not one value")};
  const std::string name = n.attributes.begin()->first;
  const OnnxAttribute& a = *n.Find(name);
  const auto list = [&](ElementType element, std::vector<double> values) {
    const auto count = static_cast<int64_t>(values.size());
    return b.Constant({element, {count}, {}}, LiteralOf(element, values));
  };
  if (name == "value" && a.kind == Kind::kTensor)
    return {b.Constant(a.tensor.type, a.tensor.data)};
  if (name == "value_float" && a.kind == Kind::kNumber)
    return {b.Scalar(ElementType::kFloat32, a.number)};
  if (name == "value_int" && a.kind == Kind::kInteger)
    return {b.Reshape(b.Integers({a.integer}), {})};
  if (name == "value_ints" && a.kind == Kind::kIntegers)
    return {b.Integers(a.integers)};
  if (name == "value_floats" && a.kind == Kind::kNumbers) {
    return {list(ElementType::kFloat32, {a.numbers.begin(), a.numbers.end()})};
  }
  // An empty list of floats looks like an empty list of integers.
  if (name == "value_floats" && a.kind == Kind::kIntegers)
    return {list(ElementType::kFloat32, {})};
  return {n.Refuse("a constant of '", name, "'")};
}

Values ConstantOfShape(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Ints shape = n.Integers(0, "the shape");
  Value value = b.Scalar(ElementType::kFloat32, 0);
  if (const OnnxAttribute* a = n.Find("value")) {
    if (!n.Check(a->kind == Kind::kTensor && a->tensor.type.elements() == 1,
                 "value is not one element"))
      return {};
    value = b.Constant({a->tensor.type.element, {}, {}}, a->tensor.data);
  }
  if (!b.ok()) return {};
  return {b.BroadcastInDim(value, shape, {})};
}

// start, start + delta and so on, as many as fit before the limit.
Values Range(OnnxNode& n) {
  HloBuilder& b = n.b;
  n.Ignore("stash_type");
  const ElementType element = n.Element(0);
  const std::vector<double> start = n.Numbers(0, "start"),
                            limit = n.Numbers(1, "limit"),
                            delta = n.Numbers(2, "delta");
  if (!b.ok()) return {};
  if (!n.Check(start.size() == 1 && limit.size() == 1 && delta.size() == 1 &&
                   delta[0] != 0,
               "start, limit and delta are not scalars, or delta is 0"))
    return {};
  const double steps = std::ceil((limit[0] - start[0]) / delta[0]);
  if (!n.Check(steps <= static_cast<double>(ir::kMaxElements), "a range of ",
               steps, " values"))
    return {};
  const auto count = static_cast<int64_t>(std::max(steps, 0.0));
  const Value i = b.Iota({element, {count}, {}}, 0);
  const Value step = b.Reshape(n.In(2), {}), first = b.Reshape(n.In(0), {});
  return {b.Binary(Op::kHloAdd, b.Binary(Op::kHloMultiply, i, step), first)};
}

Values EyeLike(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Ints shape = n.Shape(0);
  if (!n.CheckRank(0, 2)) return {};
  const auto element =
      n.HasAttribute("dtype") ? OnnxElement(n.Int("dtype", 0)) : n.Element(0);
  if (!element.ok()) return {b.Fail(element.status())};
  const ir::Type indices{ElementType::kInt64, shape, {}};
  const Value rows = b.Iota(indices, 0), columns = b.Iota(indices, 1);
  const Value shifted =
      b.Binary(Op::kHloAdd, rows, static_cast<double>(n.Int("k", 0)));
  return {b.Convert(b.Compare(ir::Direction::kEq, columns, shifted), *element)};
}

Values Reshape(OnnxNode& n) {
  const Value x = n.In(0);
  Ints shape = n.Integers(1, "the shape");
  const bool zeros = n.Int("allowzero", 0) != 0;
  if (!n.b.ok()) return {};
  int64_t open = -1, product = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zeros) {
      if (!n.Check(static_cast<int>(i) < x.type().rank(), "shape ",
                   ir::ShapeText(shape), " for ", ir::TypeText(x.type())))
        return {};
      shape[i] = x.type().shape[i];
    }
    if (shape[i] == -1) {
      if (!n.Check(open < 0, "shape ", ir::ShapeText(shape),
                   " leaves two sizes open"))
        return {};
      open = static_cast<int64_t>(i);
    } else if (shape[i] < 0 || shape[i] > ir::kMaxElements ||
               product > ir::kMaxElements) {
      return {n.Wrong("shape ", ir::ShapeText(shape))};
    } else {
      product *= shape[i];
    }
  }
  if (open >= 0) {
    const int64_t all = x.type().elements();
    if (!n.Check(product > 0 && all % product == 0, "shape ",
                 ir::ShapeText(shape), " for ", ir::TypeText(x.type())))
      return {};
    shape[open] = all / product;
  }
  return {n.b.Reshape(x, shape)};
}

Values Flatten(OnnxNode& n) {
  const Ints shape = n.Shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = n.Int("axis", 1);
  if (!n.Check(-rank <= axis && axis <= rank, "axis ", axis, " of rank ", rank))
    return {};
  if (axis < 0) axis += rank;
  return {
      n.b.Reshape(n.In(0), {Product(shape, 0, axis), Product(shape, axis)})};
}

// Axes are an attribute, and since opset 13 an input.
Ints AxesOf(OnnxNode& n) {
  if (n.opset < 13) return n.List("axes");
  return n.Has(1) ? n.Integers(1, "axes") : Ints();
}

Values Squeeze(OnnxNode& n) {
  const Ints shape = n.Shape(0);
  const bool all = n.opset < 13 ? !n.HasAttribute("axes") : !n.Has(1);
  const Ints axes = n.Axes(AxesOf(n), static_cast<int64_t>(shape.size()));
  if (!n.b.ok()) return {};
  Ints left;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool listed =
        std::count(axes.begin(), axes.end(), static_cast<int64_t>(i)) > 0;
    if (!n.Check(!listed || shape[i] == 1, "axis ", i, " of ",
                 ir::ShapeText(shape), " is not 1"))
      return {};
    if (all ? shape[i] != 1 : !listed) left.push_back(shape[i]);
  }
  return {n.b.Reshape(n.In(0), left)};
}

Values Unsqueeze(OnnxNode& n) {
  const Ints shape = n.Shape(0);
  const Ints given = AxesOf(n);
  const auto rank = static_cast<int64_t>(shape.size() + given.size());
  const Ints axes = n.Axes(given, rank);
  if (!n.b.ok()) return {};
  Ints all;
  size_t next = 0;
  for (int64_t i = 0; i < rank; ++i) {
    const bool added = std::count(axes.begin(), axes.end(), i) > 0;
    all.push_back(added ? 1 : shape[next++]);
  }
  return {n.b.Reshape(n.In(0), all)};
}

}  // namespace

OnnxOperators ShapeOperators() {
  return {
      {"Constant", 0, 0, Constant}, {"ConstantOfShape", 1, 1, ConstantOfShape},
      {"EyeLike", 1, 1, EyeLike},   {"Flatten", 1, 1, Flatten},
      {"Range", 3, 3, Range},       {"Reshape", 2, 2, Reshape},
      {"Shape", 1, 1, Shape},       {"Size", 1, 1, Size},
      {"Squeeze", 1, 2, Squeeze},   {"Unsqueeze", 1, 2, Unsqueeze}};
}

}  // namespace systole::import
