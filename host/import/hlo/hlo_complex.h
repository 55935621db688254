// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Arithmetic on complex numbers as pairs of f32 arrays of one shape. Errors of
// the results are a few roundings of fp32 relative to their size |z|; a part
// that is much smaller than the other may have lost more. Intermediate values
// are scaled, so results neither overflow nor vanish if the true ones do not,
// except for those of Multiply and Power.
#ifndef SYSTOLE_HOST_IMPORT_HLO_HLO_COMPLEX_H_
#define SYSTOLE_HOST_IMPORT_HLO_HLO_COMPLEX_H_

#include "host/import/hlo/hlo_builder.h"

namespace systole::import {

struct Complex {
  Value re, im;
};

Complex Add(HloBuilder& b, const Complex& x, const Complex& y);
Complex Subtract(HloBuilder& b, const Complex& x, const Complex& y);
// (a + ib)(c + id) = (ac - bd) + i(ad + bc)
Complex Multiply(HloBuilder& b, const Complex& x, const Complex& y);
// With |c| >= |d|, r = d / c: (a + ib) / (c + id) =
// ((a + br) + i(b - ar)) / (c + dr); otherwise both times -i first.
Complex Divide(HloBuilder& b, const Complex& x, const Complex& y);
// |x|^c exp(-d arg x) at the angle c arg x + d log |x|, for y = c + id; 1 for
// y = 0. The error grows with |y log x|, which fp32 rounds.
Complex Power(HloBuilder& b, const Complex& x, const Complex& y);

// high sqrt(1 + (low / high)^2)
Value Abs(HloBuilder& b, const Complex& x);
// x / |x|, and 0 of 0.
Complex Sign(HloBuilder& b, const Complex& x);
// The root with a real part that is not negative.
Complex Sqrt(HloBuilder& b, const Complex& x);
Complex Rsqrt(HloBuilder& b, const Complex& x);

// log |x| + i atan2(im, re)
Complex Log(HloBuilder& b, const Complex& x);
Complex LogPlusOne(HloBuilder& b, const Complex& x);
Complex Exponential(HloBuilder& b, const Complex& x);
Complex ExponentialMinusOne(HloBuilder& b, const Complex& x);
// 1 / (1 + exp(-x))
Complex Logistic(HloBuilder& b, const Complex& x);
Complex Sine(HloBuilder& b, const Complex& x);
Complex Cosine(HloBuilder& b, const Complex& x);
Complex Tan(HloBuilder& b, const Complex& x);
Complex Tanh(HloBuilder& b, const Complex& x);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_HLO_HLO_COMPLEX_H_
