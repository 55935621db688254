// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Fourier transforms, as products with matrices of cosines and sines, and
// windows. The last dimension of a signal holds its real and imaginary parts.
#include <algorithm>
#include <cmath>

#include "host/import/onnx/indices.h"
#include "host/import/onnx/operators.h"
#include "host/import/onnx/products.h"
#include "host/import/onnx/tensors.h"

namespace systole::import {
namespace {

using ir::ElementType;

constexpr int64_t kLongest = 4096;  // a matrix of 2^24 numbers

struct Transform {
  int64_t length = 0;  // of the transform
  bool inverse = false, onesided = false;
};

// cos or sin of 2 pi k n / length, as [rows, columns], each row times its
// factor.
Value Table(HloBuilder& b, ElementType element, int64_t rows, int64_t columns,
            int64_t length, double (*f)(double),
            const std::function<double(int64_t)>& factor) {
  std::vector<double> values;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < columns; ++k) {
      // The remainder is exact, so the angle loses no precision.
      const auto turn = static_cast<double>(i * k % length);
      values.push_back(factor(i) *
                       f(2 * M_PI * turn / static_cast<double>(length)));
    }
  }
  return b.Constant({element, {rows, columns}, {}}, LiteralOf(element, values));
}

// The transform of x [..., n, 1 or 2] along its last dimension but one.
Value Fourier(OnnxNode& n, const Value& x, const Transform& how) {
  HloBuilder& b = n.b;
  const ElementType element = x.type().element;
  const Ints shape = x.type().shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t parts = shape.back(), length = how.length;
  const bool from_half = how.onesided && how.inverse;
  const int64_t half = length / 2 + 1;
  const int64_t in = from_half ? half : length,
                out = how.onesided && !how.inverse ? half : length;
  if (!n.Check(length >= 1 && (parts == 1 || parts == 2) &&
                   (!how.onesided || parts == (how.inverse ? 2 : 1)),
               "a transform of length ", length, " of ",
               ir::TypeText(x.type())))
    return x;
  if (length > kLongest)
    return n.Refuse("a transform of more than ", kLongest, " values");
  // Pads or crops the signal to the length of the transform.
  Ints low(rank, 0), high(rank, 0);
  high[rank - 2] = in - shape[rank - 2];
  const Value y = b.Pad(x, b.Scalar(element, 0), low, high);
  const auto part = [&](int64_t i) {
    Ints flat = y.type().shape;
    flat.pop_back();
    return b.Reshape(b.SliceIn(y, rank - 1, i, i + 1), flat);
  };
  const double scale = how.inverse ? 1 / static_cast<double>(length) : 1;
  const std::function<double(int64_t)> factor = [&](int64_t k) {
    // The omitted half has the conjugates of the given elements. Their real
    // parts are equal, so a given element with a conjugate counts twice.
    const bool alone = k == 0 || 2 * k == length;
    return from_half && !alone ? 2 * scale : scale;
  };
  const auto table = [&](double (*f)(double)) {
    return Table(b, element, in, out, length, f, factor);
  };
  const Value cosine = table(std::cos), sine = table(std::sin);
  const auto product = [&](const Value& left, const Value& right) {
    return MatMul(b, left, right);
  };
  const Value real = part(0);
  Value re = product(real, cosine), im = product(real, sine);
  if (!how.inverse) im = b.Unary(Op::kHloNegate, im);
  if (parts == 2) {
    const Value imaginary = part(1);
    const Value more = product(imaginary, sine);
    re = b.Binary(how.inverse ? Op::kHloSubtract : Op::kHloAdd, re, more);
    im = b.Binary(Op::kHloAdd, im, product(imaginary, cosine));
  }
  Ints column = re.type().shape;
  column.push_back(1);
  if (from_half) return b.Reshape(re, column);
  return b.Concatenate({b.Reshape(re, column), b.Reshape(im, column)},
                       rank - 1);
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
  return {b.Transpose(Fourier(n, b.Transpose(x, order), how), order)};
}

// Cuts signals [batch, n, 1 or 2] into frames and multiplies each by the
// window.
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
  return {Fourier(n, cut, {length, false, onesided})};
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
