// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// docs/hlo.md, "Power", "Sine and cosine", "Other functions": each operation
// and each fma is rounded.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "verif/golden/fp32.h"
#include "verif/golden/functions.h"
#include "verif/golden/hlo/scalars.h"

namespace systole::golden::hlo {
namespace {

using fp32::FromBits;
using fp32::ToBits;

constexpr uint32_t kNan = 0x7FC00000;

float Exp2Of(float x) { return FromBits(golden::Exp2(ToBits(x))); }
float Log2Of(float x) { return FromBits(golden::Log2(ToBits(x))); }
float ReciprocalOf(float x) { return FromBits(golden::Reciprocal(ToBits(x))); }
float TanhOf(float x) { return FromBits(golden::Tanh(ToBits(x))); }

// Evaluates from the highest power down, with fma.
float Polynomial(float s, std::initializer_list<uint32_t> coefficients) {
  float sum = 0;  // so the first step is exact
  for (const uint32_t bits : coefficients)
    sum = std::fma(s, sum, FromBits(bits));
  return sum;
}

bool IsWhole(float y) { return std::isinf(y) || std::trunc(y) == y; }
bool IsOdd(float y) {
  return std::fabs(y) < 0x1p24f && std::trunc(y) == y &&
         std::fmod(y, 2.0f) != 0;
}

// a > 0 and finite, y finite.
float Pow2(float a, float y) {
  int t = 0;
  if (a < 0x1p-126f) {
    a = a * 0x1p24f;
    t = 24;
  }
  const auto k = static_cast<int32_t>(ToBits(a) - 0x3F3504F3) >> 23;
  const float m = FromBits(ToBits(a) - (static_cast<uint32_t>(k) << 23));
  const auto e = static_cast<float>(k - t);
  const float u = m - 1, v = m + 1;
  const float r = ReciprocalOf(v);
  const float f = u * r, s = f * f;
  const float g = std::fma(-f, m - (v - 1), std::fma(-f, v, u)) * r;
  const float p = Polynomial(
      s, {0x3E864D42, 0x3EA4258A, 0x3ED30BB1, 0x3F13BB63, 0x3F76384F});
  const float two = FromBits(0x4038AA3B);
  const float high = f * two;
  const float exact = std::fma(f, two, -high);
  const float low = std::fma(
      f * s, p, std::fma(g, two, std::fma(f, FromBits(0x33257060), exact)));
  const float sum = e + high;
  const float left = low + (high - (sum - e));
  const float l = sum + left;
  const float w = y * l;
  const float c = std::fmax(std::fmin(w, 140.0f), -160.0f);
  const float d =
      c == w ? std::fma(y, left - (l - sum), std::fma(y, l, -w)) : 0.0f;
  const float n = std::nearbyint(c);
  const float q = Exp2Of(c - n);
  const float size = std::fma(q, d * FromBits(0x3F317218), q);
  const int half = static_cast<int>(n) >> 1;
  return size * std::ldexp(1.0f, half) *
         std::ldexp(1.0f, static_cast<int>(n) - half);
}

struct Quadrant {
  uint32_t quadrant;
  float rest;
};

// 1 / (2 pi), its binary digits in words.
constexpr uint32_t kTurns[] = {0x28BE60DB, 0x9391054A, 0x7F09D5F4, 0x7D4D3770,
                               0x36D8A566, 0x4F10E410, 0x7F9458EA};

// `count` (up to 32) digits from `place` on; digits before the first are 0.
uint32_t Digits(int place, int count) {
  uint32_t digits = 0;
  for (int i = place; i < place + count; ++i) {
    const uint32_t digit = i < 0 ? 0 : kTurns[i / 32] >> (31 - i % 32) & 1;
    digits = digits << 1 | digit;
  }
  return digits;
}

Quadrant QuadrantOf(float a) {
  if (a < 0x1p17f) {
    const float n = std::nearbyint(a * FromBits(0x3F22F983));
    float rest = a;
    for (const uint32_t part : {0x3FC90FDBu, 0xB33BBD2Eu, 0xA6F72CEDu})
      rest = std::fma(-n, FromBits(part), rest);
    return {static_cast<uint32_t>(n), rest};
  }
  const uint32_t bits = ToBits(a);
  const uint32_t m = (bits & 0x7FFFFF) | 0x800000;
  const int place = static_cast<int>(bits >> 23) - 150;
  const uint32_t high = Digits(place, 32), low = Digits(place + 32, 24);
  const uint32_t turn =
      m * high + static_cast<uint32_t>(uint64_t{m} * low >> 24);
  const uint32_t quadrant = (turn + (1u << 29)) >> 30;
  const auto rest = static_cast<int32_t>(turn - (quadrant << 30));
  return {quadrant, static_cast<float>(rest) * FromBits(0x30C90FDB)};
}

float Wave(const Quadrant& angle, uint32_t more) {
  const uint32_t quadrant = angle.quadrant + more;
  const float rest = angle.rest, s = rest * rest;
  float size;
  if (quadrant % 2 == 0) {
    const float p =
        Polynomial(s, {0x3636CB73, 0xB9500996, 0x3C088887, 0xBE2AAAAB});
    size = std::fma(rest * s, p, rest);
  } else {
    const float q = Polynomial(s, {0x37CDD833, 0xBAB60944, 0x3D2AAAAA});
    size = std::fma(s * s, q, std::fma(s, -0.5f, 1.0f));
  }
  return quadrant % 4 >= 2 ? -size : size;
}

}  // namespace

float Exponential(float x) { return FromBits(golden::Exp(ToBits(x))); }
float Logarithm(float x) { return FromBits(golden::Log(ToBits(x))); }

float Power(float x, float y) {
  if (y == 0 || x == 1) return 1;
  if (std::isnan(x) || std::isnan(y)) return FromBits(kNan);
  if (x < 0 && !std::isinf(x) && !IsWhole(y)) return FromBits(kNan);
  const float a = std::fabs(x);
  float size = 1;
  if (a == 0 || std::isinf(a) || std::isinf(y)) {
    if (a != 1) size = Exp2Of(y * Log2Of(a));
  } else if (a != 1) {
    size = Pow2(a, y);
  }
  return std::signbit(x) && IsOdd(y) ? -size : size;
}

float Sine(float x) {
  if (!std::isfinite(x)) return FromBits(kNan);
  const float size = Wave(QuadrantOf(std::fabs(x)), 0);
  return std::signbit(x) ? -size : size;
}

float Cosine(float x) {
  if (!std::isfinite(x)) return FromBits(kNan);
  return Wave(QuadrantOf(std::fabs(x)), 1);
}

float LogPlusOne(float x) {
  const float u = 1 + x;
  if (u == 1) return x;
  if (u == 0 || std::isinf(u)) return Logarithm(u);
  return std::fma(x - (u - 1), ReciprocalOf(u), Logarithm(u));
}

float ExponentialMinusOne(float x) {
  if (!(std::fabs(x) < 0.5f)) return Exponential(x) - 1;
  const float t = TanhOf(x / 2);
  return (t + t) * ReciprocalOf(1 - t);
}

float CubeRoot(float x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const bool tiny = std::fabs(x) < 0x1p-126f;
  const float a = tiny ? std::fabs(x) * 0x1p24f : std::fabs(x);
  const float t = Power(a, FromBits(0x3EAAAAAB));
  float root = std::fma(std::fma(-(t * t), t, a), ReciprocalOf(t * t * 3), t);
  if (tiny) root = root / 256;
  return std::copysign(root, x);
}

float Angle(float y, float x) {
  if (std::isunordered(x, y)) return FromBits(kNan);
  const bool steep = std::fabs(y) > std::fabs(x);
  const auto [less, more] = std::minmax({std::fabs(x), std::fabs(y)});
  float slope = 1;  // also infinity over infinity
  if (less != more) slope = less / more;
  if (more == 0) slope = 0;
  const float square = slope * slope;
  const float series = Polynomial(
      square, {0xBAE9AD89, 0x3C321292, 0xBCFEBF1B, 0x3D6D1509, 0xBDAC048E,
               0x3DE04627, 0xBE121043, 0x3E4CC8F2, 0xBEAAAA9F});
  float angle = std::fma(slope * square, series, slope);
  // Subtracts the angle from a constant of two parts.
  const auto up_to = [&angle](uint32_t head, uint32_t tail) {
    angle = FromBits(head) - angle;
    angle += FromBits(tail);
  };
  if (steep) up_to(0x3FC90FDB, 0xB33BBD2E);
  if (std::signbit(x)) up_to(0x40490FDB, 0xB3BBBD2E);
  return std::copysign(angle, y);
}

}  // namespace systole::golden::hlo
