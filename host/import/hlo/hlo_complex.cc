// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/hlo/hlo_complex.h"

#include <limits>

#include "host/import/hlo/hlo_real.h"

namespace systole::import {
namespace {

// Beyond these sums and squares of quotients overflow, or lose digits as
// subnormal numbers. The factors of numbers beyond have exact roots.
constexpr double kLarge = 0x1p125, kSmall = 0x1p-100;
constexpr double kDown = 0x1p-4, kUp = 0x1p64;

// `large` where a size is above kLarge, `small` where it is below kSmall, and 1
// in between.
Real Factor(const Real& size, double large, double small) {
  return Choose(size > kLarge, size.Like(large),
                Choose(size < kSmall, size.Like(small), size.Like(1)));
}

// low / high within 0..1; 1 of equal ones, be they zeros or infinities.
Real Ratio(const Real& low, const Real& high) {
  return Choose(low == high, 1, low / high);
}

Real Hypotenuse(const Real& x, const Real& y) {
  const Real a = Magnitude(x), c = Magnitude(y);
  const Real high = Larger(a, c), t = Ratio(Smaller(a, c), high);
  return high * Root(1 + t * t);
}

}  // namespace

Complex Add(HloBuilder& b, const Complex& x, const Complex& y) {
  return {b.Binary(Op::kHloAdd, x.re, y.re), b.Binary(Op::kHloAdd, x.im, y.im)};
}

Complex Subtract(HloBuilder& b, const Complex& x, const Complex& y) {
  return {b.Binary(Op::kHloSubtract, x.re, y.re),
          b.Binary(Op::kHloSubtract, x.im, y.im)};
}

Complex Multiply(HloBuilder& b, const Complex& x, const Complex& y) {
  const Real xr(b, x.re), xi(b, x.im), yr(b, y.re), yi(b, y.im);
  return {xr * yr - xi * yi, xr * yi + xi * yr};
}

Complex Divide(HloBuilder& b, const Complex& x, const Complex& y) {
  const Real xr(b, x.re), xi(b, x.im), yr(b, y.re), yi(b, y.im);
  const Value turned = Magnitude(yr) < Magnitude(yi);
  Real p = Choose(turned, xi, xr), q = Choose(turned, -xr, xi);
  Real c = Choose(turned, yi, yr), d = Choose(turned, -yr, yi);
  const Real numerator = Larger(Magnitude(p), Magnitude(q));
  const Real denominator = Magnitude(c);
  const Real up = Factor(numerator, kDown, kUp);
  const Real down = Factor(denominator, kDown, kUp);
  p = p * up;
  q = q * up;
  c = c * down;
  d = d * down;
  // Also of infinities.
  const Real r =
      Choose(c == 0, 0, Choose(c == d, 1, Choose(c == -d, -1, d / c)));
  const Real size = c + d * r;
  const Real back = down * Factor(numerator, 1 / kDown, 1 / kUp);
  return {(p + q * r) / size * back, (q - p * r) / size * back};
}

Value Abs(HloBuilder& b, const Complex& x) {
  return Hypotenuse({b, x.re}, {b, x.im});
}

Complex Sign(HloBuilder& b, const Complex& x) {
  const Real re(b, x.re), im(b, x.im);
  const Real high = Larger(Magnitude(re), Magnitude(im));
  const Real factor = Factor(high, kDown, kUp);
  const Real p = re * factor, q = im * factor, size = Hypotenuse(p, q);
  const Value zero = size == 0;
  return {Choose(zero, re, p / size), Choose(zero, im, q / size)};
}

// With w = sqrt((|re| + |x|) / 2) and u = |im| / (2 w) it is w + iu, or u + iw
// for a negative real part, with the sign of im.
Complex Sqrt(HloBuilder& b, const Complex& x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Real re(b, x.re), im(b, x.im);
  const Real high = Larger(Magnitude(re), Magnitude(im));
  const Real factor = Factor(high, kDown, kUp);
  const Real p = Magnitude(re * factor), q = Magnitude(im * factor);
  const Real w = Root((p + Hypotenuse(p, q)) * 0.5);
  const Real u = Choose(w == 0, w, Choose(q == kInfinity, q, q / (w + w)));
  const Real back = Factor(high, 1 / 0x1p-2, 1 / 0x1p32);
  const Value negative = re < 0;
  return {Choose(negative, u, w) * back,
          Signed(Choose(negative, w, u) * back, im)};
}

Complex Rsqrt(HloBuilder& b, const Complex& x) {
  return Divide(b, {b.Like(x.re, 1), b.Like(x.im, 0)}, Sqrt(b, x));
}

Complex Log(HloBuilder& b, const Complex& x) {
  const Real re(b, x.re), im(b, x.im), a = Magnitude(re), c = Magnitude(im);
  const Real high = Larger(a, c), t = Ratio(Smaller(a, c), high);
  return {high.Apply(Op::kHloLog) + 0.5 * (t * t).Apply(Op::kHloLogPlusOne),
          im.With(Op::kHloAtan2, re)};
}

Complex LogPlusOne(HloBuilder& b, const Complex& x) {
  const Real re(b, x.re), im(b, x.im);
  const Complex far = Log(b, {re + 1, im});
  // |1 + x|^2 = 1 + re (2 + re) + im^2
  const Real near = 0.5 * (re * (2 + re) + im * im).Apply(Op::kHloLogPlusOne);
  return {Choose(Larger(Magnitude(re), Magnitude(im)) < 0.5, near, {b, far.re}),
          far.im};
}

}  // namespace systole::import
