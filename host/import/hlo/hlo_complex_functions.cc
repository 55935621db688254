// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Exponential and trigonometric functions of complex numbers.
#include "host/import/hlo/hlo_complex.h"
#include "host/import/hlo/hlo_real.h"

namespace systole::import {
namespace {

// Above it exp is taken of one half, and the result multiplied by that twice.
constexpr double kMostExponent = 80;

Real Sin(const Real& x) { return x.Apply(Op::kHloSine); }
Real Cos(const Real& x) { return x.Apply(Op::kHloCosine); }
Real Exp(const Real& x) { return x.Apply(Op::kHloExponential); }
Real ExpLessOne(const Real& x) { return x.Apply(Op::kHloExponentialMinusOne); }

// The product of a factor and a size; 0 of a factor 0, also of infinity.
Real Times(const Real& factor, const Real& size, const Real& more) {
  return Choose(factor == 0, factor, factor * size * more);
}

// exp(exponent), as a product of two numbers, at an angle.
Complex Polar(const Real& exponent, const Real& angle) {
  const Value large = exponent > kMostExponent;
  const Real e = Exp(Choose(large, exponent * 0.5, exponent));
  const Real more = Choose(large, e, 1);
  return {Times(Cos(angle), e, more),
          // sin(-0) = -0
          Times(Choose(angle == 0, angle, Sin(angle)), e, more)};
}

// cosh x = cosine * more, sinh x = sine * more.
struct Hyperbolic {
  Real cosine, sine, more;
};

Hyperbolic HyperbolicOf(const Real& x) {
  const Real a = Magnitude(x);
  const Value large = a > kMostExponent;
  const Real e = Exp(Choose(large, a * 0.5, a)), m = ExpLessOne(a);
  const Real half = e * 0.5;
  return {Choose(large, half, half + 0.5 / e),
          Signed(Choose(large, half, 0.5 * (m + m / (m + 1))), x),
          Choose(large, e, 1)};
}

}  // namespace

Complex Exponential(HloBuilder& b, const Complex& x) {
  return Polar({b, x.re}, {b, x.im});
}

// exp(re) cos(im) - 1 = (exp(re) - 1) cos(im) - 2 sin(im / 2)^2
Complex ExponentialMinusOne(HloBuilder& b, const Complex& x) {
  const Real re(b, x.re), im(b, x.im), half = Sin(im * 0.5);
  const Complex e = Exponential(b, x);
  const Real near = ExpLessOne(re) * Cos(im) - 2 * (half * half);
  return {Choose(re > 10, Real(b, e.re) - 1, near), e.im};
}

// With e = exp(x) or exp(-x), whichever is small: e / (1 + e) or 1 / (1 + e).
Complex Logistic(HloBuilder& b, const Complex& x) {
  const Real re(b, x.re), im(b, x.im);
  const Value negative = re < 0;
  const Complex e =
      Exponential(b, {Choose(negative, re, -re), Choose(negative, im, -im)});
  const Real er(b, e.re), ei(b, e.im);
  return Divide(b, {Choose(negative, er, 1), Choose(negative, ei, 0)},
                {er + 1, ei});
}

Complex Sine(HloBuilder& b, const Complex& x) {
  const Real re(b, x.re);
  const Hyperbolic h = HyperbolicOf({b, x.im});
  return {Times(Sin(re), h.cosine, h.more), Times(Cos(re), h.sine, h.more)};
}

Complex Cosine(HloBuilder& b, const Complex& x) {
  const Real re(b, x.re);
  const Hyperbolic h = HyperbolicOf({b, x.im});
  return {Times(Cos(re), h.cosine, h.more), Times(-Sin(re), h.sine, h.more)};
}

// tan(x) = -i tanh(ix)
Complex Tan(HloBuilder& b, const Complex& x) {
  const Complex turned = Tanh(b, {b.Unary(Op::kHloNegate, x.im), x.re});
  return {turned.im, b.Unary(Op::kHloNegate, turned.re)};
}

// With t = tan(im), s = sinh(re), c = 1 + t^2 the result is
// (c s sqrt(1 + s^2) + it) / (1 + c s^2). Where exp(-2 |re|) is below the
// roundings of 1, it is 1 + i 4 sin(im) cos(im) exp(-2 |re|).
Complex Tanh(HloBuilder& b, const Complex& x) {
  constexpr double kFar = 9;
  const Real re(b, x.re), im(b, x.im), a = Magnitude(re);
  const Value far = a > kFar;
  const Hyperbolic h = HyperbolicOf(Smaller(a, a.Like(kFar)));
  const Real t = im.Apply(Op::kHloTan), c = 1 + t * t, s = h.sine;
  const Real size = 1 + c * (s * s);
  const Real small = 4 * (Sin(im) * Cos(im)) * Exp(a * -2);
  return {Signed(Choose(far, 1, c * (s * Root(1 + s * s)) / size), re),
          Choose(far, small, t / size)};
}

Complex Power(HloBuilder& b, const Complex& x, const Complex& y) {
  constexpr double kModerate = 60;
  const Real c(b, y.re), d(b, y.im);
  const Complex log = Log(b, x);
  const Real size(b, Abs(b, x)), length(b, log.re), angle(b, log.im);
  const Value nothing = size == 0;
  const Value none = b.Binary(Op::kHloAnd, c == 0, d == 0);
  // Of |x| = 0 only the sign of c counts.
  const Real grows = c * length, turns = d * angle;
  const Value moderate = Larger(Magnitude(grows), Magnitude(turns)) < kModerate;
  const Real to = c * angle + Choose(nothing, 0, d * length);
  const Complex far = Polar(grows - turns, to);
  const Real near = size.With(Op::kHloPower, c) * Exp(-turns);
  const auto result = [&](const Real& part, const Value& beyond, double one) {
    const Real value = Choose(moderate, near * part, {b, beyond});
    const Value vanishes = b.Binary(Op::kHloAnd, nothing, c > 0);
    return Choose(none, one, Choose(vanishes, 0, value));
  };
  return {result(Cos(to), far.re, 1), result(Sin(to), far.im, 0)};
}

}  // namespace systole::import
