// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// docs/hlo.md, "Sine and cosine" and "Other functions".
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "host/ir/hlo/functions.h"
#include "host/ir/scalar.h"

namespace systole::ir {
namespace {

constexpr uint32_t kOne = 0x3F800000;
// Bits of 1 / (128 pi) after the binary point.
constexpr uint32_t kTurns[] = {0x00A2F983, 0x6E4E4415, 0x29FC2757,
                               0xD1F534DD, 0xC0DB6295, 0x993C4390};

// A nonnegative angle: `quadrant` * pi / 2 + `rest`, without full turns.
struct Angle {
  uint32_t quadrant;
  float rest;
};

// 32 bits from bit 31 - `shift` of the first word on.
uint32_t Window(uint32_t first, uint32_t second, uint32_t shift) {
  return first << shift | second >> 1 >> (31 - shift);
}

Angle Reduced(float x) {
  const uint32_t bits = BitsOf(x);
  if (bits < 0x48000000) {  // 2^17
    const float n = std::rint(x * FromBits(0x3F22F983));
    const float a = std::fma(-n, FromBits(0x3FC90FDB), x);
    const float b = std::fma(-n, FromBits(0xB33BBD2E), a);
    return {static_cast<uint32_t>(n), std::fma(-n, FromBits(0xA6F72CED), b)};
  }
  const uint32_t place = (bits >> 23) - 144, shift = place & 31;
  const uint32_t* const words = kTurns + (place >> 5);
  const uint32_t high = Window(words[0], words[1], shift);
  const uint32_t low = Window(words[1], words[2], shift) >> 8;
  const uint32_t m = (bits & 0x7FFFFF) | 0x800000;
  const uint64_t product = uint64_t{m} * low;
  const uint32_t turn = m * high + static_cast<uint32_t>(product >> 24);
  const uint32_t quadrant = (turn + 0x20000000) >> 30;
  const auto rest = static_cast<int32_t>(turn - (quadrant << 30));
  return {quadrant, static_cast<float>(rest) * FromBits(0x30C90FDB)};
}

// The sine of an angle of the quadrant.
float SineOf(const Angle& angle) {
  const float r = angle.rest, s = r * r;
  float p = std::fma(s, FromBits(0x3636CB73), FromBits(0xB9500996));
  p = std::fma(s, p, FromBits(0x3C088887));
  p = std::fma(s, p, FromBits(0xBE2AAAAB));
  const float sine = std::fma(r * s, p, r);
  float q = std::fma(s, FromBits(0x37CDD833), FromBits(0xBAB60944));
  q = std::fma(s, q, FromBits(0x3D2AAAAA));
  const float cosine = std::fma(s * s, q, std::fma(s, -0.5f, 1.0f));
  const float size = (angle.quadrant & 1) != 0 ? cosine : sine;
  return (angle.quadrant & 2) != 0 ? -size : size;
}

bool IsFinite(float x) { return (BitsOf(x) & 0x7FFFFFFF) < kInfinityBits; }

}  // namespace

float Sine(float x) {
  if (!IsFinite(x)) return FromBits(kNanBits);
  const float size = SineOf(Reduced(std::fabs(x)));
  return std::signbit(x) ? -size : size;
}

float Cosine(float x) {
  if (!IsFinite(x)) return FromBits(kNanBits);
  Angle angle = Reduced(std::fabs(x));
  ++angle.quadrant;
  return SineOf(angle);
}

float Tangent(float x) { return Sine(x) / Cosine(x); }

float LogPlusOne(float x) {
  const float u = 1 + x;
  if (BitsOf(u) == kOne) return x;
  const float log = Log(u);
  if (u == 0 || BitsOf(u) == kInfinityBits) return log;
  const float lost = std::fma(x - (u - 1), Reciprocal(u), log);
  return lost != lost ? FromBits(kNanBits) : lost;
}

float ExpMinusOne(float x) {
  if (!(std::fabs(x) < 0.5f)) return Exp(x) - 1;
  const float t = Tanh(x * 0.5f);
  return (t + t) * Reciprocal(1 - t);
}

float CubeRoot(float x) {
  const uint32_t size = BitsOf(x) & 0x7FFFFFFF;
  if (size == 0 || size >= kInfinityBits) return x;
  const bool tiny = size < 0x00800000;
  const float a = tiny ? FromBits(size) * 16777216.0f : FromBits(size);
  const float t = Power(a, FromBits(0x3EAAAAAB));
  const float square = t * t;
  const float rest = std::fma(-square, t, a);
  float root = std::fma(rest, Reciprocal(square * 3), t);
  if (tiny) root *= 0.00390625f;
  return std::signbit(x) ? -root : root;
}

float ArcTangent2(float y, float x) {
  if (y != y || x != x) return FromBits(kNanBits);
  const float a = std::fabs(y), b = std::fabs(x);
  const float low = std::fmin(a, b), high = std::fmax(a, b);
  const float t = high == 0 ? 0.0f : low == high ? 1.0f : low / high;
  const float s = t * t;
  float p = FromBits(0xBAE9AD89);
  for (const uint32_t c : {0x3C321292u, 0xBCFEBF1Bu, 0x3D6D1509u, 0xBDAC048Eu,
                           0x3DE04627u, 0xBE121043u, 0x3E4CC8F2u, 0xBEAAAA9Fu})
    p = std::fma(s, p, FromBits(c));
  float angle = std::fma(t * s, p, t);
  if (a > b) angle = (FromBits(0x3FC90FDB) - angle) + FromBits(0xB33BBD2E);
  if (std::signbit(x))
    angle = (FromBits(0x40490FDB) - angle) + FromBits(0xB3BBBD2E);
  return std::copysign(angle, y);
}

}  // namespace systole::ir
