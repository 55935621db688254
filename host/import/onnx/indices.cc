// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/onnx/indices.h"

#include <algorithm>

#include "host/import/onnx/operators.h"

namespace systole::import {
namespace {

using ir::Direction;
using ir::ElementType;

// Checks that indices that are known are in -size .. size - 1.
bool CheckIndices(OnnxNode& n, const Value& indices, int64_t size) {
  if (!n.b.ok() || !n.Check(ir::IsInteger(indices.type().element),
                            "indices are ", ir::TypeText(indices.type())))
    return false;
  if (indices.type().elements() == 0) return true;
  if (!n.Check(size > 0, "indices of an axis without elements")) return false;
  const auto known = n.b.ConstantOf(indices);
  if (!known) return true;
  for (const int64_t index : IntegersOf(*known)) {
    if (!n.Check(-size <= index && index < size, "index ", index, " of ", size))
      return false;
  }
  return true;
}

// The full index vector [..., rank] of each element of `indices`: its own
// position, with its value along the axis.
Value Places(HloBuilder& b, const Value& indices, int64_t axis) {
  const Ints& shape = indices.type().shape;
  Ints column = shape;
  column.push_back(1);
  Values columns;
  for (int64_t i = 0; i < indices.type().rank(); ++i) {
    columns.push_back(b.Reshape(
        i == axis ? indices : b.Iota({indices.type().element, shape, {}}, i),
        column));
  }
  return b.Concatenate(columns, indices.type().rank());
}

Values Gather(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0), indices = n.In(1);
  if (!n.CheckRank(0, 1)) return {};
  const int64_t axis = n.Axis(n.Int("axis", 0), x.type().rank());
  const int64_t size = x.type().shape[axis];
  if (!CheckIndices(n, indices, size)) return {};
  const auto known = b.ConstantOf(indices);
  if (known && indices.type().rank() == 0) {
    int64_t at = IntegersOf(*known)[0];
    if (at < 0) at += size;
    Ints shape = x.type().shape;
    shape.erase(shape.begin() + axis);
    return {b.Reshape(b.SliceIn(x, axis, at, at + 1), shape)};
  }
  return {Take(b, x, Wrapped(b, indices, size), axis)};
}

Values GatherElements(OnnxNode& n) {
  const Value x = n.In(0), indices = n.In(1);
  if (!n.CheckRank(0, 1)) return {};
  const int64_t axis = n.Axis(n.Int("axis", 0), x.type().rank());
  if (!n.Check(indices.type().rank() == x.type().rank(), "indices are ",
               ir::TypeText(indices.type()), " for ", ir::TypeText(x.type())))
    return {};
  const int64_t size = x.type().shape[axis];
  if (!CheckIndices(n, indices, size)) return {};
  return {TakeElements(n.b, x, Wrapped(n.b, indices, size), axis)};
}

// The region that combines an element with an update.
std::shared_ptr<const ir::Module> Combination(OnnxNode& n,
                                              ElementType element) {
  const std::string how = n.Text("reduction", "none");
  const ir::Type scalar{element, {}, {}};
  Op op = Op::kHloAdd;
  if (how == "mul") op = Op::kHloMultiply;
  if (how == "max") op = Op::kHloMaximum;
  if (how == "min") op = Op::kHloMinimum;
  n.Check(how == "none" || how == "add" || op != Op::kHloAdd, "reduction '",
          how, "'");
  return n.b.Region({scalar, scalar}, [&](HloBuilder& r, const Values& v) {
    return Values{how == "none" ? v[1] : r.Binary(op, v[0], v[1])};
  });
}

Value ScatterAt(OnnxNode& n, const Value& x, const Value& indices,
                const Value& updates, int64_t axis) {
  ir::HloScatterAttributes how;
  const int64_t rank = x.type().rank();
  how.inserted_window_dims = Range(0, rank);
  how.scatter_dims_to_operand_dims = Range(0, rank);
  how.index_vector_dim = rank;
  const auto region = Combination(n, x.type().element);
  return n.b.AddOne(Op::kHloScatter, {x, Places(n.b, indices, axis), updates},
                    how, std::nullopt, {region});
}

Values ScatterElements(OnnxNode& n) {
  const Value x = n.In(0), indices = n.In(1), updates = n.In(2);
  if (!n.CheckRank(0, 1)) return {};
  const int64_t axis = n.Axis(n.Int("axis", 0), x.type().rank());
  if (!n.Check(indices.type().rank() == x.type().rank() &&
                   indices.type().shape == updates.type().shape,
               "indices ", ir::TypeText(indices.type()), " and updates ",
               ir::TypeText(updates.type()), " for ", ir::TypeText(x.type())))
    return {};
  const int64_t size = x.type().shape[axis];
  if (!CheckIndices(n, indices, size)) return {};
  return {ScatterAt(n, x, Wrapped(n.b, indices, size), updates, axis)};
}

// Index vectors of the `depth` dimensions after the first `batch` ones, wrapped
// to non-negative.
Value WrappedVectors(OnnxNode& n, const Value& indices, const Ints& shape,
                     int64_t batch, int64_t depth) {
  HloBuilder& b = n.b;
  const Ints sizes(shape.begin() + batch, shape.begin() + batch + depth);
  const Value size = b.Convert(b.Integers(sizes), indices.type().element);
  return b.Select(b.Compare(Direction::kLt, indices, 0.0),
                  b.Binary(Op::kHloAdd, indices, size), indices);
}

Values GatherNd(OnnxNode& n) {
  const Value x = n.In(0), indices = n.In(1);
  const int64_t batch = n.Int("batch_dims", 0);
  if (!n.CheckRank(0, 1) || !n.CheckRank(1, 1)) return {};
  const Ints& shape = x.type().shape;
  const int64_t rank = x.type().rank(), depth = indices.type().shape.back();
  const int64_t index_rank = indices.type().rank();
  if (!n.Check(batch >= 0 && batch < index_rank && depth >= 1 &&
                   batch + depth <= rank,
               "indices ", ir::TypeText(indices.type()), " of ",
               ir::TypeText(x.type())))
    return {};
  ir::HloGatherAttributes how;
  how.operand_batching_dims = Range(0, batch);
  how.start_indices_batching_dims = Range(0, batch);
  how.collapsed_slice_dims = Range(batch, batch + depth);
  how.start_index_map = Range(batch, batch + depth);
  how.index_vector_dim = index_rank - 1;
  how.offset_dims =
      Range(index_rank - 1, index_rank - 1 + rank - batch - depth);
  how.slice_sizes = shape;
  for (int64_t i = 0; i < batch + depth; ++i) how.slice_sizes[i] = 1;
  return {n.b.AddOne(Op::kHloGather,
                     {x, WrappedVectors(n, indices, shape, batch, depth)},
                     how)};
}

Values ScatterNd(OnnxNode& n) {
  const Value x = n.In(0), indices = n.In(1), updates = n.In(2);
  if (!n.CheckRank(0, 1) || !n.CheckRank(1, 1)) return {};
  const int64_t rank = x.type().rank(), depth = indices.type().shape.back();
  const int64_t index_rank = indices.type().rank();
  if (!n.Check(depth >= 1 && depth <= rank, "indices ",
               ir::TypeText(indices.type()), " of ", ir::TypeText(x.type())))
    return {};
  ir::HloScatterAttributes how;
  how.update_window_dims = Range(index_rank - 1, index_rank - 1 + rank - depth);
  how.inserted_window_dims = Range(0, depth);
  how.scatter_dims_to_operand_dims = Range(0, depth);
  how.index_vector_dim = index_rank - 1;
  const auto region = Combination(n, x.type().element);
  const Value places = WrappedVectors(n, indices, x.type().shape, 0, depth);
  return {n.b.AddOne(Op::kHloScatter, {x, places, updates}, how, std::nullopt,
                     {region})};
}

// An index out of range matches no position, so all its values are `off`.
Values OneHot(OnnxNode& n) {
  HloBuilder& b = n.b;
  const std::vector<double> depths = n.Numbers(1, "depth");
  const Value values = n.In(2);
  const Value indices = b.Convert(n.In(0), ElementType::kInt64);
  const int64_t rank = indices.type().rank();
  const int64_t axis = n.Axis(n.Int("axis", -1), rank + 1);
  if (!b.ok() || !n.Check(depths.size() == 1 && depths[0] >= 0 &&
                              depths[0] < 1e9 && values.type().shape == Ints{2},
                          "depth is not one size, or values are not two"))
    return {};
  const auto depth = static_cast<int64_t>(depths[0]);
  const Value places = Wrapped(b, indices, depth);
  Ints shape = indices.type().shape, column = shape;
  shape.insert(shape.begin() + axis, depth);
  column.insert(column.begin() + axis, 1);
  const Value hot =
      b.Compare(Direction::kEq, b.Iota({ElementType::kInt64, shape, {}}, axis),
                b.Reshape(places, column));
  return {b.Select(hot, b.Reshape(b.SliceIn(values, 0, 1, 2), {}),
                   b.Reshape(b.SliceIn(values, 0, 0, 1), {}))};
}

Values Trilu(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  const bool upper = n.Int("upper", 1) != 0;
  if (!n.CheckRank(0, 2)) return {};
  const Ints& shape = x.type().shape;
  const ir::Type plane{
      ElementType::kInt64, {shape[shape.size() - 2], shape.back()}, {}};
  Value row = b.Iota(plane, 0);
  const Value column = b.Iota(plane, 1);
  if (n.Has(1)) row = b.Binary(Op::kHloAdd, row, b.Reshape(n.In(1), {}));
  const Value stays =
      b.Compare(upper ? Direction::kGe : Direction::kLe, column, row);
  return {b.Select(stays, x, b.Scalar(x.type().element, 0))};
}

// Keeps the elements where the condition holds. The condition must be known.
Values Compress(OnnxNode& n) {
  HloBuilder& b = n.b;
  Value x = n.In(0);
  int64_t axis = 0;
  if (n.HasAttribute("axis")) {
    axis = n.Axis(n.Int("axis", 0), x.type().rank());
  } else {
    x = b.Reshape(x, {x.type().elements()});
  }
  const std::vector<double> condition = n.Numbers(1, "the condition");
  if (!n.CheckRank(0, 1)) return {};
  Ints places;
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0) places.push_back(static_cast<int64_t>(i));
  }
  if (!CheckIndices(n, b.Integers(places), x.type().shape[axis])) return {};
  return {Take(b, x, b.Integers(places), axis)};
}

Values NonZero(OnnxNode& n) {
  const std::vector<double> values = n.Numbers(0, "how many values are not 0");
  const Ints shape = n.Shape(0);
  if (!n.b.ok()) return {};
  Ints found;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) found.push_back(static_cast<int64_t>(i));
  }
  Ints places;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t inner = Product(shape, axis + 1);
    for (const int64_t i : found) places.push_back(i / inner % shape[axis]);
  }
  return {
      n.b.Reshape(n.b.Integers(places), {static_cast<int64_t>(shape.size()),
                                         static_cast<int64_t>(found.size())})};
}

// Reverses the first elements of each sequence, as many as its length says.
Values ReverseSequence(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  const int64_t time = n.Int("time_axis", 0), batch = n.Int("batch_axis", 1);
  if (!n.CheckRank(0, 2) ||
      !n.Check(time + batch == 1 && time * batch == 0,
               "time_axis and batch_axis are not 0 and 1"))
    return {};
  const Ints shape = x.type().shape;
  const Value lengths = b.Convert(n.In(1), ElementType::kInt64);
  const ir::Type plane{ElementType::kInt64, shape, {}};
  const Value i = b.Iota(plane, time);
  const Value length = b.BroadcastInDim(lengths, shape, {batch});
  const Value turned =
      b.Binary(Op::kHloSubtract, b.Binary(Op::kHloSubtract, length, i), 1.0);
  const Value at = b.Select(b.Compare(Direction::kLt, i, length), turned, i);
  return {TakeElements(b, x, at, time)};
}

// Writes sequences into a cache. Each sample has its own start index.
Values TensorScatter(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value cache = n.In(0), update = n.In(1);
  const int64_t axis = n.Axis(n.Int("axis", -2), cache.type().rank());
  const std::string mode = n.Text("mode", "linear");
  if (!n.Check(update.type().rank() == cache.type().rank() && axis > 0 &&
                   (mode == "linear" || mode == "circular"),
               "an update of ", ir::TypeText(update.type()), " of ",
               ir::TypeText(cache.type()), ", mode '", mode, "'"))
    return {};
  const ir::Type places{ElementType::kInt64, update.type().shape, {}};
  Value at = b.Iota(places, axis);
  if (n.Has(2)) {
    const Value first = b.Convert(n.In(2), ElementType::kInt64);
    at = b.Binary(Op::kHloAdd, at, b.BroadcastInDim(first, places.shape, {0}));
  }
  if (b.ok() && mode == "circular") {
    at = b.Binary(Op::kHloRemainder, at,
                  static_cast<double>(cache.type().shape[axis]));
  }
  return {ScatterAt(n, cache, at, update, axis)};
}

}  // namespace

Value Wrapped(HloBuilder& b, const Value& indices, int64_t size) {
  if (ir::IsUnsigned(indices.type().element)) return indices;
  const Value up = b.Binary(Op::kHloAdd, indices, static_cast<double>(size));
  return b.Select(b.Compare(Direction::kLt, indices, 0.0), up, indices);
}

Value Take(HloBuilder& b, const Value& x, const Value& indices, int64_t axis) {
  const int64_t rank = x.type().rank(), more = indices.type().rank();
  if (!b.ok() || axis >= rank) return x;
  ir::HloGatherAttributes how;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis) how.offset_dims.push_back(i < axis ? i : i + more - 1);
  }
  how.collapsed_slice_dims = {axis};
  how.start_index_map = {axis};
  how.index_vector_dim = more;
  how.slice_sizes = x.type().shape;
  how.slice_sizes[axis] = std::min<int64_t>(1, how.slice_sizes[axis]);
  return b.AddOne(Op::kHloGather, {x, indices}, how);
}

Value TakeElements(HloBuilder& b, const Value& x, const Value& indices,
                   int64_t axis) {
  ir::HloGatherAttributes how;
  const int64_t rank = x.type().rank();
  how.collapsed_slice_dims = Range(0, rank);
  how.start_index_map = Range(0, rank);
  how.index_vector_dim = rank;
  how.slice_sizes = Ints(rank, 1);
  return b.AddOne(Op::kHloGather, {x, Places(b, indices, axis)}, how);
}

OnnxOperators IndexOperators() {
  return {{"Compress", 2, 2, Compress},
          {"Gather", 2, 2, Gather},
          {"GatherElements", 2, 2, GatherElements},
          {"GatherND", 2, 2, GatherNd},
          {"NonZero", 1, 1, NonZero},
          {"OneHot", 3, 3, OneHot},
          {"ReverseSequence", 2, 2, ReverseSequence},
          {"Scatter", 3, 3, ScatterElements},
          {"ScatterElements", 3, 3, ScatterElements},
          {"ScatterND", 3, 3, ScatterNd},
          {"TensorScatter", 2, 3, TensorScatter},
          {"Trilu", 1, 2, Trilu}};
}

}  // namespace systole::import
