// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Fourier transforms and windows. The last dimension of a signal is its real
// and imaginary part.
#include <algorithm>
#include <cmath>

#include "host/import/hlo/hlo_fourier.h"
#include "host/import/onnx/indices.h"
#include "host/import/onnx/operators.h"
#include "host/import/onnx/tensors.h"

namespace systole::import {
namespace {

using ir::ElementType;

struct Transform {
  int64_t length = 0;  // of the transform
  bool inverse = false, onesided = false;
};

// x [..., n, 1 or 2] along its last but one dimension.
Value TransformOf(OnnxNode& n, const Value& x, const Transform& how) {
  HloBuilder& b = n.b;
  const Ints shape = x.type().shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t parts = shape.back(), length = how.length;
  const bool from_half = how.onesided && how.inverse;
  const bool to_half = how.onesided && !how.inverse;
  if (!n.Check(length >= 1 && (parts == 1 || parts == 2) &&
                   (!how.onesided || parts == (how.inverse ? 2 : 1)),
               "a transform of length ", length, " of ",
               ir::TypeText(x.type())))
    return x;
  if (const absl::Status s = CheckFourier(length); !s.ok())
    return n.Refuse(s.message());
  // As many values as the transform takes.
  Ints low(rank, 0), high(rank, 0);
  high[rank - 2] = (from_half ? length / 2 + 1 : length) - shape[rank - 2];
  const Value given = b.Pad(x, b.Scalar(x.type().element, 0), low, high);
  const auto part = [&](int64_t i) {
    Ints flat = given.type().shape;
    flat.pop_back();
    return b.Reshape(b.SliceIn(given, rank - 1, i, i + 1), flat);
  };
  const Complex z{part(0), parts == 2 ? part(1) : Value()};
  const auto column = [&](const Value& y) {
    Ints shape = y.type().shape;
    shape.push_back(1);
    return b.Reshape(y, shape);
  };
  if (from_half) return column(FourierToReal(b, z, length));
  const Complex y =
      to_half ? FourierOfReal(b, z.re) : Fourier(b, z, how.inverse);
  return b.Concatenate({column(y.re), column(y.im)}, rank - 1);
}

Values Dft(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  const int64_t rank = x.type().rank();
  Transform how;
  how.inverse = n.Int("inverse", 0) != 0;
  how.onesided = n.Int("onesided", 0) != 0;
  if (!n.CheckRank(0, 2)) return {};
  int64_t axis = n.opset < 20 ? n.Int("axis", 1) : rank - 2;
  if (n.opset >= 20 && n.Has(2)) {
    const Ints given = n.Integers(2, "the axis");
    if (!n.Check(given.size() == 1, "not one axis")) return {};
    axis = given[0];
  }
  axis = n.Axis(axis, rank);
  if (!n.Check(axis < rank - 1, "axis ", axis, " of ", ir::TypeText(x.type())))
    return {};
  const int64_t size = x.type().shape[axis];
  how.length = how.onesided && how.inverse ? 2 * (size - 1) : size;
  if (n.Has(1)) {
    const Ints given = n.Integers(1, "dft_length");
    if (!n.Check(given.size() == 1, "not one dft_length")) return {};
    how.length = given[0];
  }
  Ints order = Range(0, rank);
  std::swap(order[axis], order[rank - 2]);
  return {b.Transpose(TransformOf(n, b.Transpose(x, order), how), order)};
}

// Signals [batch, n, 1 or 2] in frames, each times the window.
Values Stft(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0);
  const Ints step = n.Integers(1, "frame_step");
  const bool onesided = n.Int("onesided", 1) != 0;
  if (!b.ok() || !n.Check(x.type().rank() == 3 && step.size() == 1 &&
                              step[0] >= 1 && (n.Has(2) || n.Has(3)),
                          "a signal ", ir::TypeText(x.type())))
    return {};
  const Ints shape = x.type().shape;
  int64_t length = n.Has(2) ? n.In(2).type().elements() : 0;
  if (n.Has(3)) {
    const Ints given = n.Integers(3, "frame_length");
    if (!n.Check(given.size() == 1 && (length == 0 || given[0] == length),
                 "a frame_length that is not the window's"))
      return {};
    length = given[0];
  }
  if (!n.Check(length >= 1 && length <= shape[1], "frames of ", length,
               " of a signal of ", shape[1]))
    return {};
  const int64_t frames = (shape[1] - length) / step[0] + 1;
  if (!n.Check(frames * length <= 1 << 24, "more than 2^24 values")) return {};
  std::vector<double> places;
  for (int64_t f = 0; f < frames; ++f) {
    for (int64_t i = 0; i < length; ++i)
      places.push_back(static_cast<double>(f * step[0] + i));
  }
  const Value at = b.Constant({ElementType::kInt32, {frames, length}, {}},
                              LiteralOf(ElementType::kInt32, places));
  Value cut = Take(b, x, at, 1);
  if (n.Has(2)) {
    cut = b.Binary(
        Op::kHloMultiply, cut,
        b.BroadcastInDim(b.Reshape(n.In(2), {length}), cut.type().shape, {2}));
  }
  return {TransformOf(n, cut, {length, false, onesided})};
}

// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n)
Values Window(OnnxNode& n, double a0, double a1, double a2) {
  const Ints size = n.Integers(0, "the size");
  const bool periodic = n.Int("periodic", 1) != 0;
  const auto element = OnnxElement(n.Int("output_datatype", 1));
  if (!element.ok()) return {n.b.Fail(element.status())};
  if (!n.b.ok() ||
      !n.Check(size.size() == 1 && size[0] >= 1 && size[0] <= 1 << 24,
               "not one size"))
    return {};
  const auto steps = static_cast<double>(periodic ? size[0] : size[0] - 1);
  std::vector<double> values;
  for (int64_t i = 0; i < size[0]; ++i) {
    const double angle =
        steps == 0 ? M_PI : 2 * M_PI * static_cast<double>(i) / steps;
    values.push_back(a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle));
  }
  return {n.b.Constant({*element, {size[0]}, {}}, LiteralOf(*element, values))};
}

Values Hann(OnnxNode& n) { return Window(n, 0.5, 0.5, 0); }
Values Hamming(OnnxNode& n) { return Window(n, 25.0 / 46, 21.0 / 46, 0); }
Values Blackman(OnnxNode& n) { return Window(n, 0.42, 0.5, 0.08); }

}  // namespace

OnnxOperators SignalOperators() {
  return {{"BlackmanWindow", 1, 1, Blackman},
          {"DFT", 1, 3, Dft},
          {"HammingWindow", 1, 1, Hamming},
          {"HannWindow", 1, 1, Hann},
          {"STFT", 2, 4, Stft}};
}

}  // namespace systole::import
