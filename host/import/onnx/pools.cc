// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Pooling over spatial dimensions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "host/import/onnx/operators.h"
#include "host/import/onnx/products.h"

namespace systole::import {
namespace {

using ir::Direction;
using ir::ElementType;
using ir::Type;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Ints Spatial(const Ints& shape) { return {shape.begin() + 2, shape.end()}; }

NodeWindows PoolWindows(OnnxNode& n) {
  if (!n.CheckRank(0, 3)) return {};
  return WindowsOf(n, Spatial(n.Shape(0)), n.List("kernel_shape"));
}

// Adds batch and features in front of the spatial dimensions.
ir::HloWindowAttributes OfTensor(const NodeWindows& w) {
  ir::HloWindowAttributes all;
  const auto with = [](Ints values, int64_t in_front) {
    values.insert(values.begin(), 2, in_front);
    return values;
  };
  Ints high = w.high;
  for (size_t i = 0; i < high.size(); ++i) high[i] += w.extra[i];
  all.window = with(w.kernel, 1);
  all.stride = with(w.strides, 1);
  all.window_dilation = with(w.dilations, 1);
  all.base_dilation = Ints(w.kernel.size() + 2, 1);
  all.low = with(w.low, 0);
  all.high = with(high, 0);
  return all;
}

// The maxima and their indices; of equal values, the first.
Values MaxWithPlaces(OnnxNode& n, const Value& x,
                     const ir::HloWindowAttributes& window, bool columns) {
  HloBuilder& b = n.b;
  const Ints shape = x.type().shape;
  const Type value{x.type().element, {}, {}},
      index{ElementType::kInt32, {}, {}};
  const auto region = b.Region(
      {value, index, value, index}, [&](HloBuilder& r, const Values& v) {
        const Value beats = r.Compare(Direction::kGt, v[0], v[2]);
        const Value same = r.Compare(Direction::kEq, v[0], v[2]);
        const Value first = r.Binary(
            Op::kHloOr, beats,
            r.Binary(Op::kHloAnd, same, r.Compare(Direction::kLt, v[1], v[3])));
        return Values{r.Select(first, v[0], v[2]), r.Select(first, v[1], v[3])};
      });
  const Value flat = b.Iota({ElementType::kInt32, {Product(shape)}, {}}, 0);
  const Values found =
      b.Add(Op::kHloReduceWindow,
            {x, b.Reshape(flat, shape), b.Scalar(value.element, -kInfinity),
             b.Scalar(index.element, 2147483647)},
            window, std::nullopt, {region});
  Value places = b.Convert(found[1], ElementType::kInt64);
  if (columns && b.ok()) {
    // With column-major indices, the first spatial dimension is the fastest.
    const int64_t plane = Product(shape, 2);
    const auto size = [](int64_t v) { return static_cast<double>(v); };
    Value rest = b.Binary(Op::kHloRemainder, places, size(plane));
    Value turned = b.Binary(Op::kHloSubtract, places, rest);
    for (size_t i = 2; i < shape.size(); ++i) {
      const int64_t inner = Product(shape, i + 1), step = Product(shape, 2, i);
      const Value at = b.Binary(Op::kHloDivide, rest, size(inner));
      turned = b.Binary(Op::kHloAdd, turned,
                        b.Binary(Op::kHloMultiply, at, size(step)));
      rest = b.Binary(Op::kHloRemainder, rest, size(inner));
    }
    places = turned;
  }
  return {found[0], places};
}

Values MaxPool(OnnxNode& n) {
  const NodeWindows w = PoolWindows(n);
  const bool columns = n.Int("storage_order", 0) != 0;
  if (!n.b.ok()) return {};
  if (n.Wants(1)) return MaxWithPlaces(n, n.In(0), OfTensor(w), columns);
  return {n.b.ReduceWindow(Op::kHloMaximum, n.In(0), OfTensor(w))};
}

// The number of elements in each window: those of the tensor, and with
// `padding` also those of the padding. What ceil_mode adds never counts.
std::vector<double> Counts(const NodeWindows& w, const Ints& sizes, Ints& shape,
                           bool padding) {
  std::vector<double> all = {1};
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t low = padding ? -w.low[i] : 0;
    const int64_t limit = sizes[i] + (padding ? w.high[i] : 0);
    const int64_t outputs = (sizes[i] + w.low[i] + w.high[i] + w.extra[i] -
                             Span(w.kernel[i], w.dilations[i])) /
                                w.strides[i] +
                            1;
    std::vector<double> next;
    for (const double count : all) {
      for (int64_t o = 0; o < outputs; ++o) {
        int64_t inside = 0;
        for (int64_t t = 0; t < w.kernel[i]; ++t) {
          const int64_t at = o * w.strides[i] - w.low[i] + t * w.dilations[i];
          inside += low <= at && at < limit ? 1 : 0;
        }
        next.push_back(count * static_cast<double>(inside));
      }
    }
    all = std::move(next);
    shape.push_back(outputs);
  }
  return all;
}

Values AveragePool(OnnxNode& n) {
  HloBuilder& b = n.b;
  const NodeWindows w = PoolWindows(n);
  const bool padding = n.Int("count_include_pad", 0) != 0;
  if (!b.ok()) return {};
  const ElementType element = n.Element(0);
  const Value sum = b.ReduceWindow(Op::kHloAdd, n.In(0), OfTensor(w));
  if (!b.ok() || !n.Check(Product(sum.type().shape, 2) <= 1 << 24,
                          "more than 2^24 windows"))
    return {};
  Ints shape = {1, 1};
  const std::vector<double> counts =
      Counts(w, Spatial(n.Shape(0)), shape, padding);
  if (std::all_of(counts.begin(), counts.end(),
                  [&](double count) { return count == counts[0]; }))
    return {b.Binary(Op::kHloDivide, sum, counts[0])};
  return {
      b.Binary(Op::kHloDivide, sum,
               b.Constant({element, shape, {}}, LiteralOf(element, counts)))};
}

// |x|^p, and its inverse.
Value Powered(HloBuilder& b, const Value& x, int64_t p) {
  const Value size = b.Unary(Op::kHloAbs, x);
  if (p == 1) return size;
  if (p == 2) return b.Binary(Op::kHloMultiply, x, x);
  return b.Binary(Op::kHloPower, size, static_cast<double>(p));
}
Value Rooted(HloBuilder& b, const Value& x, int64_t p) {
  if (p == 1) return x;
  if (p == 2) return b.Unary(Op::kHloSqrt, x);
  return b.Binary(Op::kHloPower, x, 1 / static_cast<double>(p));
}

Values LpPool(OnnxNode& n) {
  const NodeWindows w = PoolWindows(n);
  const int64_t p = n.Int("p", 2);
  if (!n.Check(p >= 1, "p = ", p)) return {};
  const Value sum =
      n.b.ReduceWindow(Op::kHloAdd, Powered(n.b, n.In(0), p), OfTensor(w));
  return {Rooted(n.b, sum, p)};
}

Values GlobalAveragePool(OnnxNode& n) {
  if (!n.CheckRank(0, 2)) return {};
  const Value sum = n.b.Reduce(Op::kHloAdd, n.In(0), Range(2, n.Rank(0)), true);
  return {n.b.Binary(Op::kHloDivide, sum,
                     static_cast<double>(Product(n.Shape(0), 2)))};
}
Values GlobalMaxPool(OnnxNode& n) {
  if (!n.CheckRank(0, 2)) return {};
  return {n.b.Reduce(Op::kHloMaximum, n.In(0), Range(2, n.Rank(0)), true)};
}
Values GlobalLpPool(OnnxNode& n) {
  const int64_t p = n.Int("p", 2);
  if (!n.CheckRank(0, 2) || !n.Check(p >= 1, "p = ", p)) return {};
  return {Rooted(n.b,
                 n.b.Reduce(Op::kHloAdd, Powered(n.b, n.In(0), p),
                            Range(2, n.Rank(0)), true),
                 p)};
}

}  // namespace

OnnxOperators PoolOperators() {
  return {{"AveragePool", 1, 1, AveragePool},
          {"GlobalAveragePool", 1, 1, GlobalAveragePool},
          {"GlobalLpPool", 1, 1, GlobalLpPool},
          {"GlobalMaxPool", 1, 1, GlobalMaxPool},
          {"LpPool", 1, 1, LpPool},
          {"MaxPool", 1, 1, MaxPool}};
}

}  // namespace systole::import
