// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// GridSample: interpolates between elements, at positions that the model
// computes.
#include <cmath>

#include "host/import/onnx/operators.h"

namespace systole::import {
namespace {

using ir::Direction;
using ir::ElementType;

constexpr double kCubic = -0.75;

struct Sampling {
  std::string mode, padding;
  bool align = false;
};

// A neighbour along one dimension: its index, clamped into range; its weight;
// whether it is inside.
struct Tap {
  Value index, weight, inside;
};

Value Times(HloBuilder& b, const Value& x, const Value& y) {
  return b.Binary(Op::kHloMultiply, x, y);
}

// The weight of cubic convolution for a neighbour at this distance.
Value CubicWeight(HloBuilder& b, const Value& distance, bool far) {
  const auto plus = [&](const Value& x, double y) {
    return b.Binary(Op::kHloAdd, x, y);
  };
  const auto by = [&](const Value& x, double y) {
    return b.Binary(Op::kHloMultiply, x, y);
  };
  const Value x = b.Unary(Op::kHloAbs, distance);
  if (far) {
    Value y = plus(by(x, kCubic), -5 * kCubic);
    y = plus(Times(b, y, x), 8 * kCubic);
    return plus(Times(b, y, x), -4 * kCubic);
  }
  const Value y = plus(by(x, kCubic + 2), -(kCubic + 3));
  return plus(Times(b, Times(b, y, x), x), 1);
}

// Maps an index outside to an element, as the padding mode says.
Value Inside(HloBuilder& b, const Sampling& how, const Value& index,
             int64_t size) {
  const auto last = static_cast<double>(size - 1);
  if (how.padding != "reflection") {
    return b.Binary(Op::kHloMinimum, b.Binary(Op::kHloMaximum, index, 0.0),
                    last);
  }
  // The mirror lies on the first and last element, or half a step beyond them.
  const double period = how.align ? 2 * last : 2 * static_cast<double>(size);
  if (period == 0) return b.Binary(Op::kHloMultiply, index, 0.0);
  Value rest = b.Binary(Op::kHloRemainder, index, period);
  rest = b.Select(b.Compare(Direction::kLt, rest, 0.0),
                  b.Binary(Op::kHloAdd, rest, period), rest);
  const Value back = b.Binary(
      Op::kHloSubtract,
      b.Scalar(rest.type().element, how.align ? period : period - 1), rest);
  return b.Binary(Op::kHloMinimum, rest, back);
}

std::vector<Tap> TapsOf(HloBuilder& b, const Sampling& how, const Value& grid,
                        int64_t size) {
  constexpr ElementType kIndex = ElementType::kInt32;
  const auto length = static_cast<double>(size);
  // Maps -1 .. 1 to positions of elements.
  const Value up = b.Binary(Op::kHloAdd, grid, 1.0);
  const Value place =
      how.align
          ? b.Binary(Op::kHloMultiply, up, (length - 1) / 2)
          : b.Binary(Op::kHloMultiply,
                     b.Binary(Op::kHloAdd,
                              b.Binary(Op::kHloMultiply, up, length), -1.0),
                     0.5);
  const bool nearest = how.mode == "nearest";
  const Value base =
      b.Unary(nearest ? Op::kHloRoundNearestEven : Op::kHloFloor, place);
  const Value ratio = b.Binary(Op::kHloSubtract, place, base);
  const int first = how.mode == "cubic" ? -1 : 0;
  const int last = nearest ? 0 : how.mode == "cubic" ? 2 : 1;
  std::vector<Tap> taps;
  for (int k = first; k <= last; ++k) {
    Tap tap;
    const Value index =
        b.Binary(Op::kHloAdd, b.Convert(base, kIndex), static_cast<double>(k));
    tap.index = Inside(b, how, index, size);
    if (how.padding == "zeros")
      tap.inside = b.Compare(Direction::kEq, index, tap.index);
    const Value distance =
        b.Binary(Op::kHloAdd, ratio, static_cast<double>(-k));
    if (how.mode == "cubic") {
      tap.weight = CubicWeight(b, distance, k == -1 || k == 2);
    } else if (!nearest) {
      tap.weight =
          b.Binary(Op::kHloSubtract, b.Scalar(distance.type().element, 1),
                   b.Unary(Op::kHloAbs, distance));
    }
    taps.push_back(tap);
  }
  return taps;
}

// Gathers [batch, features, positions] from x [batch, features, elements].
Value TakeFlat(HloBuilder& b, const Value& x, const Value& index) {
  const Ints shape = index.type().shape;
  ir::HloGatherAttributes how;
  how.operand_batching_dims = how.start_indices_batching_dims = {0};
  how.offset_dims = {1};
  how.collapsed_slice_dims = {2};
  how.start_index_map = {2};
  how.index_vector_dim = 2;
  how.slice_sizes = {1, x.type().shape[1], 1};
  return b.AddOne(Op::kHloGather,
                  {x, b.Reshape(index, {shape[0], Product(shape, 1), 1})}, how);
}

Values GridSample(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0), grid = n.In(1);
  Sampling how;
  how.mode = n.Text("mode", n.opset < 20 ? "bilinear" : "linear");
  if (how.mode == "bilinear") how.mode = "linear";
  if (how.mode == "bicubic") how.mode = "cubic";
  how.padding = n.Text("padding_mode", "zeros");
  how.align = n.Int("align_corners", 0) != 0;
  const Ints shape = x.type().shape, places = grid.type().shape;
  const int64_t spatial = x.type().rank() - 2;
  if (!n.Check(spatial >= 1 && grid.type().rank() == spatial + 2 &&
                   places.back() == spatial && places[0] == shape[0] &&
                   ir::IsFloat(grid.type().element) && Product(shape) > 0 &&
                   Product(shape) < ir::kMaxElements,
               "a grid ", ir::TypeText(grid.type()), " of ",
               ir::TypeText(x.type())) ||
      !n.Check((how.mode == "linear" || how.mode == "nearest" ||
                how.mode == "cubic") &&
                   (how.padding == "zeros" || how.padding == "border" ||
                    how.padding == "reflection"),
               "mode '", how.mode, "', padding_mode '", how.padding, "'"))
    return {};
  const Ints out(places.begin(), places.end() - 1);
  const Value flat = b.Reshape(x, {shape[0], shape[1], Product(shape, 2)});
  const ElementType element = x.type().element;
  // The neighbours over the dimensions so far, with flat indices.
  std::vector<Tap> all;
  for (int64_t d = 0; d < spatial; ++d) {
    // The grid lists the coordinates with the last dimension first.
    const int64_t at = spatial - 1 - d;
    const Value coordinate =
        b.Reshape(b.SliceIn(grid, spatial + 1, at, at + 1), out);
    const int64_t size = shape[d + 2];
    std::vector<Tap> next;
    for (const Tap& tap : TapsOf(b, how, coordinate, size)) {
      if (all.empty() && d == 0) next.push_back(tap);
      for (const Tap& before : all) {
        Tap both = tap;
        both.index = b.Binary(
            Op::kHloAdd,
            b.Binary(Op::kHloMultiply, before.index, static_cast<double>(size)),
            tap.index);
        if (tap.weight.node != nullptr)
          both.weight = Times(b, before.weight, tap.weight);
        if (tap.inside.node != nullptr)
          both.inside = b.Binary(Op::kHloAnd, before.inside, tap.inside);
        next.push_back(both);
      }
    }
    all = next;
  }
  Value sum;
  for (const Tap& tap : all) {
    if (!b.ok()) return {};
    const Ints row = {out[0], 1, Product(out, 1)};
    Value part = TakeFlat(b, flat, tap.index);
    if (tap.inside.node != nullptr) {
      part = b.Select(b.Reshape(tap.inside, row), part, b.Scalar(element, 0));
    }
    if (tap.weight.node != nullptr)
      part = Times(b, part, b.Convert(b.Reshape(tap.weight, row), element));
    sum = sum.node == nullptr ? part : b.Binary(Op::kHloAdd, sum, part);
  }
  Ints result = out;
  result.insert(result.begin() + 1, shape[1]);
  return {b.Reshape(sum, result)};
}

}  // namespace

OnnxOperators SampleOperators() { return {{"GridSample", 2, 2, GridSample}}; }

}  // namespace systole::import
