// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR, one dimension after the other.
// Index i of the result corresponds to the position i * scale of the input.
// With half_pixel_centers it is (i + 0.5) * scale - 0.5.
#include <algorithm>
#include <cmath>

#include "host/import/float/float_operator.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;

constexpr int64_t kMostPixels = 1 << 16;  // per dimension
constexpr int64_t kMostShift = 4;         // more: a gather

struct Resized {
  bool align_corners = false, half_pixels = false;
  Ints sizes;  // height, width
};

template <typename Options>
Resized ReadResized(FloatOperator& in, Value x, const Options* o) {
  Resized resized;
  if (in.Read(o) == nullptr) return resized;
  resized = {o->align_corners(), o->half_pixel_centers(), in.Integers(1)};
  if (!in.ok()) return resized;
  in.Require(x.type().rank() == 4 && x.type().elements() > 0 &&
                 resized.sizes.size() == 2 && resized.sizes[0] > 0 &&
                 resized.sizes[1] > 0 && resized.sizes[0] <= kMostPixels &&
                 resized.sizes[1] <= kMostPixels,
             ir::TypeText(x.type()), " to ", ir::ShapeText(resized.sizes));
  return resized;
}

// In fp32, as the reference kernels compute it.
float ScaleOf(const Resized& resized, int64_t from, int64_t to) {
  return resized.align_corners && to > 1
             ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
             : static_cast<float>(from) / static_cast<float>(to);
}

// Element i of the result is low + share * (high - low).
struct Neighbours {
  Ints low, high;
  std::vector<float> share;
};

Neighbours NeighboursOf(const Resized& resized, int64_t from, int64_t to) {
  Neighbours all;
  const float scale = ScaleOf(resized, from, to);
  for (int64_t i = 0; i < to; ++i) {
    const float place = resized.half_pixels
                            ? (static_cast<float>(i) + 0.5f) * scale - 0.5f
                            : static_cast<float>(i) * scale;
    const int64_t low = std::clamp<int64_t>(
        static_cast<int64_t>(std::floor(place)), 0, from - 1);
    const int64_t high = std::clamp<int64_t>(
        static_cast<int64_t>(std::ceil(place)), 0, from - 1);
    all.low.push_back(low);
    all.high.push_back(high);
    all.share.push_back(high == low ? 0.0f : place - static_cast<float>(low));
  }
  return all;
}

// The slices at these indices of a dimension.
Value Take(HloBuilder& n, const Value& x, int64_t dimension,
           const Ints& indices) {
  if (!n.ok()) return x;
  const auto count = static_cast<int64_t>(indices.size());
  bool rises = count > 0;
  for (int64_t i = 1; i < count; ++i)
    rises = rises && indices[i] == indices[i - 1] + 1;
  if (rises) return n.SliceIn(x, dimension, indices[0], indices[0] + count);
  ir::HloGatherAttributes a;
  a.slice_sizes = x.type().shape;
  for (int64_t i = 0; i < x.type().rank(); ++i)
    if (i != dimension) a.offset_dims.push_back(i);
  a.slice_sizes[dimension] = 1;
  a.collapsed_slice_dims = {dimension};
  a.start_index_map = {dimension};
  a.index_vector_dim = 1;
  return n.AddOne(Op::kHloGather, {x, n.Integers(indices, kI32)}, a);
}

// The slices at these indices. If the new size is a multiple of the old one,
// the indices of each phase usually are consecutive, except at the ends. The
// result is then built from slices of the input with repeated ends, without a
// gather.
Value Taken(HloBuilder& n, Value x, int64_t dimension, const Ints& indices) {
  if (!n.ok()) return x;
  const int64_t size = x.type().shape[dimension];
  const auto count = static_cast<int64_t>(indices.size());
  const int64_t phases = count / size;
  if (count % size != 0 || phases < 2) return Take(n, x, dimension, indices);
  std::vector<Value> parts;
  Ints with_phase = x.type().shape, result = x.type().shape;
  with_phase.insert(with_phase.begin() + dimension + 1, 1);
  result[dimension] = count;
  for (int64_t phase = 0; phase < phases; ++phase) {
    // Index i of the phase should be i + shift, clamped.
    const int64_t middle = size / 2;
    const int64_t shift = indices[middle * phases + phase] - middle;
    if (std::abs(shift) > kMostShift) return Take(n, x, dimension, indices);
    for (int64_t i = 0; i < size; ++i) {
      if (indices[i * phases + phase] !=
          std::clamp<int64_t>(i + shift, 0, size - 1))
        return Take(n, x, dimension, indices);
    }
    Value part = x;
    const int64_t moved = std::min(std::abs(shift), size - 1);
    if (shift != 0) {
      const bool up = shift > 0;
      std::vector<Value> pieces(
          moved, n.SliceIn(x, dimension, up ? size - 1 : 0, up ? size : 1));
      pieces.insert(
          up ? pieces.begin() : pieces.end(),
          n.SliceIn(x, dimension, up ? moved : 0, up ? size : size - moved));
      part = n.Concatenate(pieces, dimension);
    }
    parts.push_back(n.Reshape(part, with_phase));
  }
  return n.Reshape(n.Concatenate(parts, dimension + 1), result);
}

Value Interpolated(HloBuilder& n, Value x, int64_t dimension,
                   const Resized& resized, int64_t to) {
  if (!n.ok() || x.type().shape[dimension] == to) {
    // With equal sizes, every convention gives the input's positions.
    return x;
  }
  const Neighbours all = NeighboursOf(resized, x.type().shape[dimension], to);
  const Value low = Taken(n, x, dimension, all.low);
  if (std::all_of(all.share.begin(), all.share.end(),
                  [](float share) { return share == 0; }))
    return low;
  const Value high = Taken(n, x, dimension, all.high);
  if (!n.ok()) return x;
  const Value share =
      n.BroadcastInDim(n.Floats(all.share), low.type().shape, {dimension});
  return n.Binary(
      Op::kHloAdd, low,
      n.Binary(Op::kHloMultiply, n.Binary(Op::kHloSubtract, high, low), share));
}

void ImportBilinear(FloatOperator& in) {
  const Value x = in.Real(0);
  const Resized resized =
      ReadResized(in, x, in.op().options_as_ResizeBilinearOptions());
  if (!in.ok()) return;
  const Value rows = Interpolated(in.nodes(), x, 1, resized, resized.sizes[0]);
  in.Set(Interpolated(in.nodes(), rows, 2, resized, resized.sizes[1]));
}

// The index below the position or, with align_corners, the nearest one.
Ints NearestOf(const Resized& resized, int64_t from, int64_t to) {
  const float scale = ScaleOf(resized, from, to);
  const float offset = resized.half_pixels ? 0.5f : 0.0f;
  Ints all;
  for (int64_t i = 0; i < to; ++i) {
    const float place = (static_cast<float>(i) + offset) * scale;
    const auto index = static_cast<int64_t>(
        resized.align_corners ? std::round(place) : std::floor(place));
    all.push_back(std::clamp<int64_t>(index, 0, from - 1));
  }
  return all;
}

void ImportNearest(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  Value x = in.Raw(0);
  const Resized resized =
      ReadResized(in, x, in.op().options_as_ResizeNearestOptions());
  for (int64_t d : {1, 2}) {
    if (!in.ok()) return;
    const int64_t size = x.type().shape[d];
    x = Taken(n, x, d, NearestOf(resized, size, resized.sizes[d - 1]));
  }
  in.SetMoved(x);
}

}  // namespace

FloatRules ResizeRules() {
  return {
      {B::BuiltinOperator_RESIZE_BILINEAR, ImportBilinear},
      {B::BuiltinOperator_RESIZE_NEAREST_NEIGHBOR, ImportNearest},
  };
}

}  // namespace systole::import
