// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators that move elements whose positions are known at import.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/import/onnx/operators.h"
#include "host/ir/verifier.h"

namespace systole::import {
namespace {

using ir::ElementType;

Values Concat(OnnxNode& n) {
  const int64_t axis = n.Axis(n.Int("axis"), n.Rank(0));
  return {n.b.Concatenate(n.All(), axis)};
}

Values Transpose(OnnxNode& n) {
  Ints order = n.List("perm");
  if (!n.HasAttribute("perm")) {
    order = Range(0, n.Rank(0));
    std::reverse(order.begin(), order.end());
  }
  return {n.b.Transpose(n.In(0), order)};
}

Values Expand(OnnxNode& n) {
  const Value x = n.In(0);
  const Ints wanted = n.Integers(1, "the shape");
  if (!n.b.ok()) return {};
  const auto shape = ir::BroadcastShape(x.type().shape, wanted);
  if (!shape) {
    return {n.Wrong(ir::TypeText(x.type()), " does not stretch to ",
                    ir::ShapeText(wanted))};
  }
  return {n.b.BroadcastTo(x, *shape)};
}

Values Tile(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  const Ints repeats = n.Integers(1, "repeats");
  const Ints& shape = x.type().shape;
  if (!b.ok() || !n.Check(repeats.size() == shape.size(), repeats.size(),
                          " repeats for ", ir::TypeText(x.type())))
    return {};
  // [a, b] is broadcast to [ra, a, rb, b].
  Ints split, places, joined;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!n.Check(repeats[i] >= 0 && repeats[i] <= ir::kMaxElements, "repeats ",
                 ir::ShapeText(repeats)))
      return {};
    split.push_back(repeats[i]);
    places.push_back(static_cast<int64_t>(split.size()));
    split.push_back(shape[i]);
    joined.push_back(repeats[i] * shape[i]);
  }
  if (split.size() <= ir::kMaxRank)
    return {b.Reshape(b.BroadcastInDim(x, split, places), joined)};
  Value y = x;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!n.Check(repeats[i] <= 1024 && repeats[i] > 0, "repeats ",
                 ir::ShapeText(repeats)))
      return {};
    y = b.Concatenate(Values(repeats[i], y), static_cast<int64_t>(i));
  }
  return {y};
}

// Positions may count from the end, and steps may be negative.
Value SliceBy(OnnxNode& n, const Value& x, const Ints& starts, const Ints& ends,
              const Ints& axes, const Ints& steps) {
  HloBuilder& b = n.b;
  const Ints shape = x.type().shape;
  Ints start(shape.size(), 0), limit = shape, stride(shape.size(), 1), back;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i], size = shape[axis], step = steps[i];
    if (!n.Check(step != 0, "a step of 0")) return b.Fail({});
    const auto at = [&](int64_t place, int64_t least, int64_t most) {
      if (place < 0) place += size;
      return std::clamp(place, least, most);
    };
    if (step > 0) {
      start[axis] = at(starts[i], 0, size);
      limit[axis] = std::max(start[axis], at(ends[i], 0, size));
      stride[axis] = std::min(step, std::max<int64_t>(size, 1));
      continue;
    }
    // A negative step: positions in the reversed dimension.
    const int64_t first = at(starts[i], 0, size - 1);
    const int64_t past = at(ends[i], -1, size - 1);
    back.push_back(axis);
    start[axis] = size == 0 ? 0 : size - 1 - first;
    limit[axis] = std::max(start[axis], size == 0 ? 0 : size - 1 - past);
    stride[axis] = step < -size ? std::max<int64_t>(size, 1) : -step;
  }
  return b.Slice(b.Reverse(x, back), start, limit, stride);
}

Values Slice(OnnxNode& n) {
  const Value x = n.In(0);
  const bool inputs = n.opset >= 10;
  const Ints starts = inputs ? n.Integers(1, "starts") : n.List("starts");
  const Ints ends = inputs ? n.Integers(2, "ends") : n.List("ends");
  const auto count = static_cast<int64_t>(starts.size());
  Ints axes = Range(0, count), steps(count, 1);
  if (!inputs && n.HasAttribute("axes")) axes = n.List("axes");
  if (inputs && n.Has(3)) axes = n.Integers(3, "axes");
  if (inputs && n.Has(4)) steps = n.Integers(4, "steps");
  axes = n.Axes(axes, x.type().rank());
  if (!n.b.ok() ||
      !n.Check(ends.size() == starts.size() && axes.size() == starts.size() &&
                   steps.size() == starts.size(),
               "lists of different lengths"))
    return {};
  return {SliceBy(n, x, starts, ends, axes, steps)};
}

Values Split(OnnxNode& n) {
  const Value x = n.In(0);
  const int64_t axis = n.Axis(n.Int("axis", 0), x.type().rank());
  if (!n.CheckRank(0, 1)) return {};
  const int64_t size = x.type().shape[axis];
  Ints parts = n.opset < 13 ? n.List("split")
               : n.Has(1)   ? n.Integers(1, "split")
                            : Ints();
  const bool given = n.opset < 13 ? n.HasAttribute("split") : n.Has(1);
  const auto outputs = static_cast<int64_t>(n.wanted.size());
  const int64_t count = n.Int("num_outputs", outputs);
  if (!n.b.ok() || !n.Check(count == outputs, "num_outputs ", count, " for ",
                            outputs, " outputs"))
    return {};
  if (!given) {
    if (!n.Check(n.opset >= 18 || size % count == 0, "parts of ", size,
                 " that are not equal"))
      return {};
    const int64_t part = (size + count - 1) / count;
    for (int64_t i = 0; i < count; ++i)
      parts.push_back(std::clamp<int64_t>(size - i * part, 0, part));
  }
  Values results;
  int64_t first = 0;
  for (const int64_t part : parts) {
    if (!n.Check(part >= 0 && part <= size - first, "parts ",
                 ir::ShapeText(parts), " of ", size))
      return {};
    results.push_back(n.b.SliceIn(x, axis, first, first + part));
    first += part;
  }
  n.Check(first == size && static_cast<int64_t>(parts.size()) == outputs,
          "parts ", ir::ShapeText(parts), " of ", size);
  return results;
}

// Pads by indices into the operand: reflected, repeated or cyclic.
Value PadByPlaces(OnnxNode& n, Value x, const Ints& low, const Ints& high,
                  const std::string& mode) {
  HloBuilder& b = n.b;
  for (int64_t axis = 0; axis < static_cast<int64_t>(low.size()); ++axis) {
    const int64_t size = x.type().shape[axis], before = low[axis],
                  after = high[axis];
    if (before <= 0 && after <= 0) continue;
    const bool reflect = mode == "reflect";
    if (!n.Check(size > 0, "padding of nothing")) return x;
    if (reflect && (before >= size || after >= size)) {
      return n.Refuse("reflected padding of ", std::max(before, after),
                      " for a size of ", size);
    }
    if (mode == "wrap" && (before > size || after > size))
      return n.Refuse("cyclic padding beyond the size");
    const auto part = [&](int64_t first, int64_t limit) {
      return b.SliceIn(x, axis, first, limit);
    };
    const auto edge = [&](int64_t at, int64_t count) {
      Ints shape = x.type().shape;
      shape[axis] = count;
      return b.BroadcastTo(part(at, at + 1), shape);
    };
    Values parts;
    if (before > 0) {
      parts.push_back(reflect          ? b.Reverse(part(1, before + 1), {axis})
                      : mode == "edge" ? edge(0, before)
                                       : part(size - before, size));
    }
    parts.push_back(x);
    if (after > 0) {
      parts.push_back(reflect
                          ? b.Reverse(part(size - 1 - after, size - 1), {axis})
                      : mode == "edge" ? edge(size - 1, after)
                                       : part(0, after));
    }
    x = b.Concatenate(parts, axis);
  }
  return x;
}

Values Pad(OnnxNode& n) {
  HloBuilder& b = n.b;
  Value x = n.In(0);
  const int64_t rank = x.type().rank();
  const std::string mode = n.Text("mode", "constant");
  const Ints pads = n.opset < 11 ? n.List("pads") : n.Integers(1, "pads");
  Ints axes = Range(0, rank);
  if (n.Has(3)) axes = n.Axes(n.Integers(3, "axes"), rank);
  Value with =
      b.Scalar(x.type().element, n.opset < 11 ? n.Float("value", 0) : 0);
  if (n.opset >= 11 && n.Has(2)) {
    if (!n.Check(n.In(2).type().elements() == 1, "not one value to pad with"))
      return {};
    with = b.Convert(b.Reshape(n.In(2), {}), x.type().element);
  }
  if (!b.ok() || !n.Check(pads.size() == 2 * axes.size(), pads.size(),
                          " pads for ", axes.size(), " axes"))
    return {};
  Ints low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    low[axes[i]] = pads[i];
    high[axes[i]] = pads[i + axes.size()];
  }
  if (mode == "constant") return {b.Pad(x, with, low, high)};
  if (!n.Check(mode == "reflect" || mode == "edge" || mode == "wrap", "mode '",
               mode, "'"))
    return {};
  // Negative padding is cut off first.
  Ints cut_low(rank), cut_high(rank);
  for (int64_t i = 0; i < rank; ++i) {
    cut_low[i] = std::min<int64_t>(low[i], 0);
    cut_high[i] = std::min<int64_t>(high[i], 0);
  }
  x = b.Pad(x, with, cut_low, cut_high);
  return {b.ok() ? PadByPlaces(n, x, low, high, mode) : x};
}

// The depth is split into [B, B, C'] (DCR) or [C', B, B] (CRD).
Values DepthToSpace(OnnxNode& n) {
  const Ints s = n.Shape(0);
  const int64_t block = n.Int("blocksize");
  const std::string mode = n.Text("mode", "DCR");
  if (!n.Check(s.size() == 4 && block > 0 && block < 65536 &&
                   s[1] % (block * block) == 0 &&
                   (mode == "DCR" || mode == "CRD"),
               "blocks of ", block, " in ", ir::ShapeText(s)))
    return {};
  const int64_t depth = s[1] / (block * block);
  const bool dcr = mode == "DCR";
  const Value split =
      n.b.Reshape(n.In(0), dcr ? Ints{s[0], block, block, depth, s[2], s[3]}
                               : Ints{s[0], depth, block, block, s[2], s[3]});
  const Value turned = n.b.Transpose(
      split, dcr ? Ints{0, 3, 4, 1, 5, 2} : Ints{0, 1, 4, 2, 5, 3});
  return {n.b.Reshape(turned, {s[0], depth, s[2] * block, s[3] * block})};
}

Values SpaceToDepth(OnnxNode& n) {
  const Ints s = n.Shape(0);
  const int64_t block = n.Int("blocksize");
  const bool dcr = n.Text("mode", "DCR") != "CRD";
  if (!n.Check(
          s.size() == 4 && block > 0 && s[2] % block == 0 && s[3] % block == 0,
          "blocks of ", block, " in ", ir::ShapeText(s)))
    return {};
  const Value split = n.b.Reshape(
      n.In(0), {s[0], s[1], s[2] / block, block, s[3] / block, block});
  const Value turned = n.b.Transpose(
      split, dcr ? Ints{0, 3, 5, 1, 2, 4} : Ints{0, 1, 3, 5, 2, 4});
  return {n.b.Reshape(
      turned, {s[0], s[1] * block * block, s[2] / block, s[3] / block})};
}

// Crops the middle of each axis, or pads around it.
Values CenterCropPad(OnnxNode& n) {
  HloBuilder& b = n.b;
  Value x = n.In(0);
  const int64_t rank = x.type().rank();
  const Ints wanted = n.Integers(1, "the shape");
  const Ints axes =
      n.HasAttribute("axes") ? n.Axes(n.List("axes"), rank) : Range(0, rank);
  if (!b.ok() || !n.Check(wanted.size() == axes.size(), wanted.size(),
                          " sizes for ", axes.size(), " axes"))
    return {};
  Ints low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t more = wanted[i] - x.type().shape[axes[i]];
    if (!n.Check(wanted[i] >= 0, "a size of ", wanted[i])) return {};
    low[axes[i]] = more >= 0 ? more / 2 : -((-more) / 2);
    high[axes[i]] = more - low[axes[i]];
  }
  return {b.Pad(x, b.Scalar(x.type().element, 0), low, high)};
}

}  // namespace

OnnxOperators MoveOperators() {
  return {{"CenterCropPad", 2, 2, CenterCropPad},
          {"Concat", 1, kAnyNumber, Concat},
          {"DepthToSpace", 1, 1, DepthToSpace},
          {"Expand", 2, 2, Expand},
          {"Pad", 1, 4, Pad},
          {"Slice", 1, 5, Slice},
          {"SpaceToDepth", 1, 1, SpaceToDepth},
          {"Split", 1, 2, Split},
          {"Tile", 2, 2, Tile},
          {"Transpose", 1, 1, Transpose}};
}

}  // namespace systole::import
