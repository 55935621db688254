// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators that sort elements along an axis, or accumulate along it.
#include <limits>

#include "host/import/onnx/operators.h"

namespace systole::import {
namespace {

using ir::Direction;
using ir::ElementType;
using ir::Type;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The index of the largest or smallest element. Of equal ones, it is the first
// or, with `last`, the last.
Value ArgExtreme(HloBuilder& b, const Value& x, int64_t axis, bool largest,
                 bool last) {
  const Type value{x.type().element, {}, {}};
  const Type index{ElementType::kInt32, {}, {}};
  const auto region = b.Region(
      {value, index, value, index}, [&](HloBuilder& r, const Values& v) {
        const Value beats =
            r.Compare(largest ? Direction::kGt : Direction::kLt, v[0], v[2]);
        const Value same = r.Compare(Direction::kEq, v[0], v[2]);
        const Value before =
            r.Compare(last ? Direction::kGt : Direction::kLt, v[1], v[3]);
        const Value first =
            r.Binary(Op::kHloOr, beats, r.Binary(Op::kHloAnd, same, before));
        return Values{r.Select(first, v[0], v[2]), r.Select(first, v[1], v[3])};
      });
  const Value i = b.Iota({ElementType::kInt32, x.type().shape, {}}, axis);
  const double worst = value.element == ElementType::kBool
                           ? (largest ? 0 : 1)
                           : (largest ? -kInfinity : kInfinity);
  return b.Add(Op::kHloReduce,
               {x, i, b.Scalar(value.element, worst),
                b.Scalar(ElementType::kInt32, last ? -1 : 1 << 30)},
               ir::HloDimensionsAttributes{{axis}}, std::nullopt, {region})[1];
}

template <bool kLargest>
Values Arg(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  if (!n.CheckRank(0, 1)) return {};
  const int64_t axis = n.Axis(n.Int("axis", 0), x.type().rank());
  const bool keep = n.Int("keepdims", 1) != 0;
  const bool last = n.Int("select_last_index", 0) != 0;
  if (!b.ok()) return {};
  if (!n.Check(x.type().shape[axis] > 0, "an axis without elements")) return {};
  Value at =
      b.Convert(ArgExtreme(b, x, axis, kLargest, last), ElementType::kInt64);
  Ints shape = x.type().shape;
  shape[axis] = 1;
  return {keep ? b.Reshape(at, shape) : at};
}

// Sorts values along an axis. Returns the values and their indices.
Values Sorted(HloBuilder& b, const Value& x, int64_t axis, bool largest) {
  const Type value{x.type().element, {}, {}};
  const Type index{ElementType::kInt32, {}, {}};
  const auto region = b.Region(
      {value, value, index, index}, [&](HloBuilder& r, const Values& v) {
        return Values{
            r.Compare(largest ? Direction::kGt : Direction::kLt, v[0], v[1])};
      });
  const Value i = b.Iota({ElementType::kInt32, x.type().shape, {}}, axis);
  return b.Add(Op::kHloSort, {x, i}, ir::HloSortAttributes{axis, true},
               std::nullopt, {region});
}

// Equal values keep their order. With `sorted` = 0, any order is allowed.
Values TopK(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  if (!n.CheckRank(0, 1)) return {};
  const int64_t axis = n.Axis(n.Int("axis", -1), x.type().rank());
  const Ints k = n.opset < 10 ? Ints{n.Int("k")} : n.Integers(1, "k");
  const bool largest = n.Int("largest", 1) != 0;
  n.Ignore("sorted");
  if (!b.ok() ||
      !n.Check(k.size() == 1 && k[0] >= 0 && k[0] <= x.type().shape[axis],
               "k is not in 0..", x.type().shape[axis]))
    return {};
  const Values sorted = Sorted(b, x, axis, largest);
  return {b.SliceIn(sorted[0], axis, 0, k[0]),
          b.Convert(b.SliceIn(sorted[1], axis, 0, k[0]), ElementType::kInt64)};
}

// Prefix sums or products; exclusive ones leave out the element itself. There
// are log2(n) passes, and each doubles the reach.
template <Op kOp>
Values Cumulative(OnnxNode& n) {
  HloBuilder& b = n.b;
  Value x = n.In(0);
  const Ints at = n.Integers(1, "the axis");
  const bool reverse = n.Int("reverse", 0) != 0;
  const bool exclusive = n.Int("exclusive", 0) != 0;
  if (!b.ok() || !n.Check(at.size() == 1, "not one axis")) return {};
  const int64_t axis = n.Axis(at[0], x.type().rank());
  if (!b.ok()) return {};
  const int64_t size = x.type().shape[axis];
  const Value neutral = b.Scalar(x.type().element, kOp == Op::kHloAdd ? 0 : 1);
  const auto shifted = [&](const Value& v, int64_t by) {
    Ints low(v.type().rank(), 0), high = low;
    low[axis] = reverse ? -by : by;
    high[axis] = reverse ? by : -by;
    return b.Pad(v, neutral, low, high);
  };
  if (exclusive && size > 0) x = shifted(x, 1);
  for (int64_t by = 1; by < size; by *= 2) x = b.Binary(kOp, x, shifted(x, by));
  return {x};
}

}  // namespace

OnnxOperators SortOperators() {
  return {{"ArgMax", 1, 1, Arg<true>},
          {"ArgMin", 1, 1, Arg<false>},
          {"CumProd", 2, 2, Cumulative<Op::kHloMultiply>},
          {"CumSum", 2, 2, Cumulative<Op::kHloAdd>},
          {"TopK", 1, 2, TopK}};
}

}  // namespace systole::import
