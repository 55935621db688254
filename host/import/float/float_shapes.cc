// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Moves by shapes, axes and positions that are constant at import.
#include <algorithm>
#include <numeric>

#include "host/import/float/float_operator.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;

void ImportReshape(FloatOperator& in) {
  const Value x = in.Raw(0);
  Ints shape;
  const auto* o = in.op().options_as_ReshapeOptions();
  if (in.Has(1)) {
    shape = in.Integers(1);
  } else if (o != nullptr && o->new_shape() != nullptr) {
    shape.assign(o->new_shape()->begin(), o->new_shape()->end());
  } else {
    shape = in.ResultType().shape;
  }
  if (!in.ok()) return;
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open != shape.end()) {
    *open = 1;
    const int64_t others = SizeOf(shape);
    *open = others > 0 ? x.type().elements() / others : 0;
  }
  if (in.Require(std::all_of(shape.begin(), shape.end(),
                             [](int64_t size) { return size >= 0; }),
                 "a shape of ", ir::ShapeText(shape)))
    in.SetMoved(in.nodes().Reshape(x, shape));
}

void ImportSqueeze(FloatOperator& in) {
  const Value x = in.Raw(0);
  const auto* o = in.op().options_as_SqueezeOptions();
  if (!in.ok()) return;
  const Ints& from = x.type().shape;
  Ints given, shape;
  if (o != nullptr && o->squeeze_dims() != nullptr)
    given.assign(o->squeeze_dims()->begin(), o->squeeze_dims()->end());
  const Ints axes = in.Axes(given, x.type().rank());
  for (int64_t i = 0; i < x.type().rank(); ++i) {
    const bool named = std::count(axes.begin(), axes.end(), i) > 0;
    if (named ? !in.Require(from[i] == 1, "dimension ", i, " of ",
                            ir::ShapeText(from), " is not 1")
              : !given.empty() || from[i] != 1)
      shape.push_back(from[i]);
  }
  in.SetMoved(in.nodes().Reshape(x, shape));
}

void ImportExpandDims(FloatOperator& in) {
  const Value x = in.Raw(0);
  const Ints given = in.Integers(1);
  if (!in.ok() || !in.Require(given.size() == 1, given.size(), " axes")) return;
  const int64_t axis = in.Axis(given[0], x.type().rank() + 1);
  Ints shape = x.type().shape;
  shape.insert(shape.begin() + axis, 1);
  in.SetMoved(in.nodes().Reshape(x, shape));
}

void ImportTranspose(FloatOperator& in) {
  const Value x = in.Raw(0);
  const Ints given = in.Integers(1);
  if (!in.ok()) return;
  Ints permutation;
  for (const int64_t axis : given)
    permutation.push_back(in.Axis(axis, x.type().rank()));
  Ints sorted = permutation, all(x.type().rank());
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  if (in.Require(sorted == all, "the order ", ir::ShapeText(given), " of ",
                 ir::TypeText(x.type())))
    in.SetMoved(in.nodes().Transpose(x, permutation));
}

// The padding value: the stored number that stands for 0.
Value Filling(FloatOperator& in, Value x, int operand) {
  if (in.Has(operand)) return in.nodes().Reshape(in.Raw(operand), {});
  const auto affine = in.AffineOf(0);
  return in.nodes().Scalar(
      x.type().element, affine ? static_cast<double>(affine->zeros[0]) : 0.0);
}

void ImportPad(FloatOperator& in) {
  const Value x = in.Raw(0);
  const Ints pads = in.Integers(1);
  if (!in.ok() ||
      !in.Require(pads.size() == 2 * x.type().shape.size(), pads.size(),
                  " paddings for ", ir::TypeText(x.type())))
    return;
  Ints low, high;
  for (size_t i = 0; i < pads.size(); i += 2) {
    in.Require(pads[i] >= 0 && pads[i + 1] >= 0, "paddings of ",
               ir::ShapeText(pads));
    low.push_back(pads[i]);
    high.push_back(pads[i + 1]);
  }
  in.SetMoved(in.nodes().Pad(x, Filling(in, x, 2), low, high));
}

// REFLECT does not repeat the border element; SYMMETRIC does.
void ImportMirrorPad(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const auto* o = in.Read(in.op().options_as_MirrorPadOptions());
  Value x = in.Raw(0);
  const Ints pads = in.Integers(1);
  if (!in.ok() ||
      !in.Require(pads.size() == 2 * x.type().shape.size(), pads.size(),
                  " paddings for ", ir::TypeText(x.type())))
    return;
  const int64_t skip = o->mode() == tflite::MirrorPadMode_REFLECT ? 1 : 0;
  for (int64_t i = 0; i < x.type().rank() && in.ok(); ++i) {
    const int64_t size = x.type().shape[i], low = pads[2 * i],
                  high = pads[2 * i + 1];
    if (!in.Require(
            0 <= low && low + skip <= size && 0 <= high && high + skip <= size,
            "paddings ", low, " and ", high, " of ", size))
      return;
    std::vector<Value> parts;
    if (low > 0)
      parts.push_back(n.Reverse(n.SliceIn(x, i, skip, skip + low), {i}));
    parts.push_back(x);
    if (high > 0) {
      parts.push_back(
          n.Reverse(n.SliceIn(x, i, size - skip - high, size - skip), {i}));
    }
    x = n.Concatenate(parts, i);
  }
  in.SetMoved(x);
}

void ImportConcatenation(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const auto* o = in.Read(in.op().options_as_ConcatenationOptions());
  if (!in.ok() || !in.Require(in.inputs() > 0, "no operands")) return;
  // Quantised operands may have different scales.
  bool alike = o->activation() == tflite::Activation_NONE;
  for (int i = 0; i < in.inputs(); ++i)
    alike = alike && in.AffineOf(i) == in.ResultAffine();
  std::vector<Value> parts;
  for (int i = 0; i < in.inputs() && in.ok(); ++i)
    parts.push_back(alike ? in.Raw(i) : in.Real(i));
  if (!in.ok()) return;
  const int64_t axis = in.Axis(o->axis(), parts[0].type().rank());
  const Value joined = n.Concatenate(parts, axis);
  if (alike) {
    in.SetMoved(joined);
  } else {
    in.Set(joined, o->activation());
  }
}

void ImportPack(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const auto* o = in.Read(in.op().options_as_PackOptions());
  std::vector<Value> parts;
  int64_t axis = 0;
  for (int i = 0; i < in.inputs() && in.ok(); ++i) {
    const Value x = in.Raw(i);
    if (!in.ok()) return;
    axis = in.Axis(o->axis(), x.type().rank() + 1);
    Ints shape = x.type().shape;
    shape.insert(shape.begin() + axis, 1);
    parts.push_back(n.Reshape(x, shape));
  }
  if (in.ok() && in.Require(!parts.empty(), "no operands"))
    in.SetMoved(n.Concatenate(parts, axis));
}

void ImportUnpack(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const auto* o = in.Read(in.op().options_as_UnpackOptions());
  const Value x = in.Raw(0);
  if (!in.ok()) return;
  const int64_t axis = in.Axis(o->axis(), x.type().rank());
  if (!in.ok() ||
      !in.Require(x.type().shape[axis] == in.outputs(), in.outputs(),
                  " parts of ", ir::TypeText(x.type())))
    return;
  Ints shape = x.type().shape;
  shape.erase(shape.begin() + axis);
  for (int i = 0; i < in.outputs() && in.ok(); ++i)
    in.SetMoved(n.Reshape(n.SliceIn(x, axis, i, i + 1), shape), 0, i);
}

// Splits into parts of `sizes`. One size may be -1: the rest.
void Split(FloatOperator& in, Value x, int operand, const Ints& axes,
           Ints sizes) {
  if (!in.ok() || !in.Require(axes.size() == 1, axes.size(), " axes")) return;
  const int64_t axis = in.Axis(axes[0], x.type().rank());
  if (!in.ok()) return;
  const int64_t size = x.type().shape[axis];
  if (sizes.empty() && size % in.outputs() == 0)
    sizes.assign(in.outputs(), size / in.outputs());
  int64_t given = 0;
  for (const int64_t part : sizes) given += std::max<int64_t>(part, 0);
  std::replace(sizes.begin(), sizes.end(), int64_t{-1}, size - given);
  bool fits = static_cast<int>(sizes.size()) == in.outputs();
  given = 0;
  for (const int64_t part : sizes) {
    fits = fits && 0 <= part && part <= size;
    given += part;
  }
  if (!in.Require(fits && given == size, "parts of ", ir::ShapeText(sizes),
                  " of ", size))
    return;
  int64_t from = 0;
  for (int i = 0; i < in.outputs() && in.ok(); ++i) {
    in.SetMoved(in.nodes().SliceIn(x, axis, from, from + sizes[i]), operand, i);
    from += sizes[i];
  }
}

void ImportSplit(FloatOperator& in) {
  const Ints axes = in.Integers(0);
  Split(in, in.Raw(1), 1, axes, {});
}

void ImportSplitV(FloatOperator& in) {
  const Value x = in.Raw(0);
  const Ints sizes = in.Integers(1), axes = in.Integers(2);
  Split(in, x, 0, axes, sizes);
}

void ImportSlice(FloatOperator& in) {
  const Value x = in.Raw(0);
  const Ints begin = in.Integers(1), sizes = in.Integers(2);
  if (!in.ok() || !in.Require(begin.size() == x.type().shape.size() &&
                                  sizes.size() == begin.size(),
                              begin.size(), " begins and ", sizes.size(),
                              " sizes for ", ir::TypeText(x.type())))
    return;
  Ints limit;
  for (size_t i = 0; i < begin.size(); ++i) {
    const int64_t size = x.type().shape[i];
    const int64_t count = sizes[i] == -1 ? size - begin[i] : sizes[i];
    in.Require(0 <= begin[i] && begin[i] <= size && 0 <= count &&
                   count <= size - begin[i],
               count, " elements from ", begin[i], " of ", size);
    limit.push_back(begin[i] + count);
  }
  in.SetMoved(in.nodes().Slice(x, begin, limit, Ints(begin.size(), 1)));
}

// One dimension of a strided slice.
struct Range {
  int64_t start = 0, count = 0, step = 1;
};

Range RangeOf(int64_t size, int64_t begin, int64_t end, int64_t step,
              bool from_first, bool to_last) {
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const auto place = [&](int64_t v) {
    return std::clamp(v < 0 ? v + size : v, low, std::max(low, high));
  };
  const int64_t from = from_first ? (step > 0 ? 0 : size - 1) : place(begin);
  const int64_t to = to_last ? (step > 0 ? size : -1) : place(end);
  const int64_t span = step > 0 ? to - from : from - to;
  const int64_t width = std::abs(step);
  return {from, span <= 0 ? 0 : (span + width - 1) / width, step};
}

void ImportStridedSlice(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const auto* o = in.Read(in.op().options_as_StridedSliceOptions());
  Value x = in.Raw(0);
  const Ints begin = in.Integers(1), end = in.Integers(2),
             step = in.Integers(3);
  if (!in.ok() ||
      !in.Require(end.size() == begin.size() && step.size() == begin.size() &&
                      begin.size() <= 32,
                  begin.size(), " begins, ", end.size(), " ends, ", step.size(),
                  " strides"))
    return;
  const Ints from = x.type().shape;
  const auto masked = [](int32_t mask, size_t i) { return mask >> i & 1; };
  int64_t added = 0, ellipses = 0;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (masked(o->ellipsis_mask(), i)) {
      ++ellipses;
    } else if (masked(o->new_axis_mask(), i)) {
      ++added;
    }
  }
  const int64_t skipped =
      static_cast<int64_t>(from.size()) -
      (static_cast<int64_t>(begin.size()) - added - ellipses);
  if (!in.Require(ellipses <= 1 && skipped >= 0, begin.size(), " positions in ",
                  ir::TypeText(x.type())))
    return;
  Ints start, limit, strides, reversed, shape;
  size_t d = 0;
  const auto whole = [&](int64_t count) {
    for (; count > 0 && d < from.size(); --count, ++d) {
      start.push_back(0);
      limit.push_back(from[d]);
      strides.push_back(1);
      shape.push_back(from[d]);
    }
  };
  for (size_t i = 0; i < begin.size(); ++i) {
    if (masked(o->ellipsis_mask(), i)) {
      whole(skipped);
      continue;
    }
    if (masked(o->new_axis_mask(), i)) {
      shape.push_back(1);
      continue;
    }
    const int64_t size = from[d];
    const bool shrinks = masked(o->shrink_axis_mask(), i) != 0;
    constexpr int64_t kMost = int64_t{1} << 40;
    if (!in.Require(step[i] != 0 && std::abs(step[i]) < kMost &&
                        std::abs(begin[i]) < kMost && std::abs(end[i]) < kMost,
                    "dimension ", d, " from ", begin[i], " to ", end[i], " by ",
                    step[i]))
      return;
    Range range;
    if (shrinks) {
      range = {begin[i] < 0 ? begin[i] + size : begin[i], 1, 1};
      if (!in.Require(0 <= range.start && range.start < size, "place ",
                      begin[i], " of ", size))
        return;
    } else {
      range = RangeOf(size, begin[i], o->offset() ? begin[i] + end[i] : end[i],
                      step[i], masked(o->begin_mask(), i) != 0,
                      masked(o->end_mask(), i) != 0);
    }
    const int64_t width = std::abs(range.step);
    const int64_t span = range.count == 0 ? 0 : (range.count - 1) * width + 1;
    const bool back = range.step < 0;
    const int64_t first = span == 0 ? 0
                          : back    ? range.start - (span - 1)
                                    : range.start;
    start.push_back(first);
    limit.push_back(first + span);
    strides.push_back(width);
    if (back) reversed.push_back(static_cast<int64_t>(d));
    if (!shrinks) shape.push_back(range.count);
    ++d;
  }
  whole(static_cast<int64_t>(from.size() - d));
  x = n.Reverse(n.Slice(x, start, limit, strides), reversed);
  in.SetMoved(n.Reshape(x, shape));
}

void ImportReverse(FloatOperator& in) {
  const Value x = in.Raw(0);
  const Ints given = in.Integers(1);
  if (!in.ok()) return;
  in.SetMoved(in.nodes().Reverse(x, in.Axes(given, x.type().rank())));
}

// The shape is static, so the result is a constant.
void ImportShape(FloatOperator& in) {
  const Value x = in.Raw(0);
  const ElementType element = in.ResultType().element;
  if (in.ok()) in.Set(in.nodes().Integers(x.type().shape, element));
}

void ImportRank(FloatOperator& in) {
  const Value x = in.Raw(0);
  if (in.ok()) in.Set(in.nodes().Scalar(kI32, x.type().rank()));
}

}  // namespace

FloatRules ShapeRules() {
  return {
      {B::BuiltinOperator_RESHAPE, ImportReshape},
      {B::BuiltinOperator_SQUEEZE, ImportSqueeze},
      {B::BuiltinOperator_EXPAND_DIMS, ImportExpandDims},
      {B::BuiltinOperator_TRANSPOSE, ImportTranspose},
      {B::BuiltinOperator_PAD, ImportPad},
      {B::BuiltinOperator_PADV2, ImportPad},
      {B::BuiltinOperator_MIRROR_PAD, ImportMirrorPad},
      {B::BuiltinOperator_CONCATENATION, ImportConcatenation},
      {B::BuiltinOperator_PACK, ImportPack},
      {B::BuiltinOperator_UNPACK, ImportUnpack},
      {B::BuiltinOperator_SPLIT, ImportSplit},
      {B::BuiltinOperator_SPLIT_V, ImportSplitV},
      {B::BuiltinOperator_SLICE, ImportSlice},
      {B::BuiltinOperator_STRIDED_SLICE, ImportStridedSlice},
      {B::BuiltinOperator_REVERSE_V2, ImportReverse},
      {B::BuiltinOperator_SHAPE, ImportShape},
      {B::BuiltinOperator_RANK, ImportRank},
  };
}

}  // namespace systole::import
