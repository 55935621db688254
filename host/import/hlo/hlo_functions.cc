// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/hlo/hlo_functions.h"

#include <cmath>

namespace systole::import {
namespace {

Value Times(HloBuilder& b, const Value& x, const Value& y) {
  return b.Binary(Op::kHloMultiply, x, y);
}

Value Polynomial(HloBuilder& b, const Value& x,
                 const std::vector<double>& falling) {
  Value sum = b.Like(x, falling[0]);
  for (size_t i = 1; i < falling.size(); ++i)
    sum = b.Binary(Op::kHloAdd, Times(b, sum, x), falling[i]);
  return sum;
}

// x / 2 * (1 + gate)
Value HalfGated(HloBuilder& b, const Value& x, const Value& gate) {
  return Times(b, b.Binary(Op::kHloMultiply, x, 0.5),
               b.Binary(Op::kHloAdd, gate, 1));
}

Value LessLargest(HloBuilder& b, const Value& x, int64_t axis) {
  return b.Binary(Op::kHloSubtract, x,
                  b.Reduce(Op::kHloMaximum, x, {axis}, true));
}

}  // namespace

Value Softmax(HloBuilder& b, const Value& x, int64_t axis, double beta) {
  Value less = LessLargest(b, x, axis);
  if (beta != 1) less = b.Binary(Op::kHloMultiply, less, beta);
  const Value e = b.Unary(Op::kHloExponential, less);
  return b.Binary(Op::kHloDivide, e, b.Reduce(Op::kHloAdd, e, {axis}, true));
}

Value LogSoftmax(HloBuilder& b, const Value& x, int64_t axis) {
  const Value less = LessLargest(b, x, axis);
  const Value sum =
      b.Reduce(Op::kHloAdd, b.Unary(Op::kHloExponential, less), {axis}, true);
  return b.Binary(Op::kHloSubtract, less, b.Unary(Op::kHloLog, sum));
}

// x P(x^2) / Q(x^2), with x clamped to -4 .. 4. The coefficients are a minimax
// fit of this form.
Value Erf(HloBuilder& b, const Value& x) {
  const Value within = b.Clamp(-4, x, 4);
  const Value square = Times(b, within, within);
  const Value p = Polynomial(b, square,
                             {1.97470821e-06, 0.000288024703, 0.00400344924,
                              0.0534669187, 0.196246137, 1.12837898});
  const Value q = Polynomial(b, square,
                             {3.74786846e-05, 0.00121628723, 0.0154440707,
                              0.116475077, 0.507249776, 1});
  return b.Binary(Op::kHloDivide, Times(b, within, p), q);
}

Value Gelu(HloBuilder& b, const Value& x) {
  return HalfGated(b, x, Erf(b, b.Binary(Op::kHloMultiply, x, M_SQRT1_2)));
}

Value GeluOfTanh(HloBuilder& b, const Value& x) {
  const Value cube = Times(b, Times(b, x, x), x);
  const Value sum =
      b.Binary(Op::kHloAdd, x, b.Binary(Op::kHloMultiply, cube, 0.044715));
  return HalfGated(b, x,
                   b.Unary(Op::kHloTanh, b.Binary(Op::kHloMultiply, sum,
                                                  std::sqrt(2 / M_PI))));
}

}  // namespace systole::import
