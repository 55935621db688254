// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/hlo/functions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "host/ir/scalar.h"
#include "systole/gen/sfu.h"

namespace systole::ir {
namespace {

constexpr int64_t kPlaceMask = (int64_t{1} << 23) - 1;

// A finite nonzero argument: +-m * 2^(x - 23).
struct Parts {
  uint32_t sign;
  int64_t m;
  int x;
  int64_t g;  // m without its leading one
};

Parts PartsOf(uint32_t bits) {
  const int exponent = bits >> 23 & 255;
  int64_t m = bits & kPlaceMask;
  int x = exponent - 127;
  if (exponent > 0) {
    m += int64_t{1} << 23;
  } else {
    for (x = -126; m < int64_t{1} << 23; --x) m *= 2;
  }
  return {bits >> 31, m, x, m - (int64_t{1} << 23)};
}

// The bits of the fp32 number nearest to v * 2^k, halves to even.
uint32_t Round(int64_t v, int k) {
  if (v == 0) return 0;
  const int top = 63 - __builtin_clzll(v);
  const int exponent = top + k;                    // of the leading bit
  const int unit = std::max(exponent, -126) - 23;  // of the last place
  const int drop = unit - k;                       // bits of v below it
  int64_t kept;
  if (drop <= 0) {
    kept = v << -drop;
  } else if (drop > 62) {
    return 0;
  } else {
    const int64_t rest = v & ((int64_t{1} << drop) - 1);
    const int64_t half = int64_t{1} << (drop - 1);
    kept = v >> drop;
    kept += rest > half || (rest == half && (kept & 1)) ? 1 : 0;
  }
  // A carry out of the fraction goes into the exponent, as it should.
  const int64_t biased = std::max(exponent, -126) + 126;
  const int64_t bits = (biased << 23) + kept;
  return bits >= kInfinityBits ? kInfinityBits : static_cast<uint32_t>(bits);
}

int64_t Poly(int64_t entry, int64_t t) {
  const sfu::Segment& s = sfu::kTable[entry];
  const int64_t slope = int64_t{s.c1} * 128 + (((t >> 6) * s.c2) >> 10);
  return s.c0 + ((t * slope) >> 30);
}

int64_t Split(int base, int n, int64_t g) {
  return Poly(base + (g >> (23 - n)), (g << n) & kPlaceMask);
}

int64_t SplitFixed(int base, int64_t w) {
  return Poly(base + (w >> 23), w & kPlaceMask);
}

// floor(m * 2^(x + 7)), the argument in units of 2^-30.
int64_t Fixed(const Parts& p) {
  const int shift = p.x + 7;
  if (shift >= 0) return p.m << shift;
  return shift < -62 ? 0 : p.m >> -shift;
}

float Signed(uint32_t sign, uint32_t magnitude) {
  return FromBits(sign << 31 | magnitude);
}

float Nan() { return FromBits(kNanBits); }

}  // namespace

float Exp2(float a) {
  const uint32_t bits = BitsOf(a);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > kInfinityBits) return Nan();
  if (magnitude >= 0x43800000) {  // 2^8
    return bits >> 31 ? 0.0f : FromBits(kInfinityBits);
  }
  int64_t w = magnitude == 0 ? 0 : Fixed(PartsOf(bits));
  if (bits >> 31) w = -w;
  return FromBits(Round(SplitFixed(sfu::kExp2Base, w & ((1 << 30) - 1)),
                        static_cast<int>(w >> 30) - 30));
}

float Log2(float a) {
  const uint32_t bits = BitsOf(a);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > kInfinityBits) return Nan();
  if (magnitude == 0) return Signed(1, kInfinityBits);
  if (bits >> 31) return Nan();
  if (magnitude == kInfinityBits) return a;
  const Parts p = PartsOf(bits);
  const int h = p.g >= int64_t{1} << 22 ? 1 : 0;
  const int64_t d = p.m * (int64_t{1} << (1 - h)) - (int64_t{1} << 24);
  const int64_t v = (int64_t{p.x} + h) * (int64_t{1} << 54) +
                    d * Split(sfu::kLog2Base, 7, p.g);
  return v >= 0 ? FromBits(Round(v, -54)) : Signed(1, Round(-v, -54));
}

float Rsqrt(float a) {
  const uint32_t bits = BitsOf(a);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > kInfinityBits) return Nan();
  if (magnitude == 0) return Signed(bits >> 31, kInfinityBits);
  if (bits >> 31) return Nan();
  if (magnitude == kInfinityBits) return 0.0f;
  const Parts p = PartsOf(bits);
  const int q = p.x >> 1;
  const int base = (p.x & 1) == 0 ? sfu::kRsqrtBase : sfu::kRsqrt2Base;
  return FromBits(Round(Split(base, 7, p.g), -q - 31));
}

float Reciprocal(float a) {
  const uint32_t bits = BitsOf(a);
  const uint32_t magnitude = bits & 0x7FFFFFFF, sign = bits >> 31;
  if (magnitude > kInfinityBits) return Nan();
  if (magnitude == 0) return Signed(sign, kInfinityBits);
  if (magnitude == kInfinityBits) return Signed(sign, 0);
  const Parts p = PartsOf(bits);
  return Signed(sign, Round(Split(sfu::kRcpBase, 8, p.g), -p.x - 31));
}

float Tanh(float a) {
  const uint32_t bits = BitsOf(a);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > kInfinityBits) return Nan();
  if (magnitude < 0x39800000) return a;  // 2^-12
  const uint32_t sign = bits >> 31;
  const float size = FromBits(magnitude);
  if (size >= 16) return Signed(sign, 0x3F800000);
  const Parts p = PartsOf(bits);
  if (size < 1) {
    return Signed(sign,
                  Round(p.m * SplitFixed(sfu::kTanhBase, Fixed(p)), p.x - 53));
  }
  const int64_t poly = size < 2   ? Split(sfu::kTanh1Base, 6, p.g)
                       : size < 4 ? Split(sfu::kTanh2Base, 7, p.g)
                       : size < 8 ? Split(sfu::kTanh4Base, 6, p.g)
                                  : Split(sfu::kTanh8Base, 4, p.g);
  return Signed(sign, Round(poly, -30));
}

float Exp(float a) {
  if (a != a) return Nan();
  const float x = std::max(std::min(a, 89.0f), -110.0f);
  const float log2e = FromBits(0x3FB8AA3B);
  const float w = x * log2e;
  const float inner = std::fma(-x, log2e, w);
  const float r = std::fma(-x, FromBits(0x32A57060), inner);
  const float h = w > 64 ? 1.0f : 0.0f;
  const float y = Exp2(w - h);
  const float scaled = std::fma(y, r * FromBits(0xBF317218), y);
  return h != 0 ? scaled * 2 : scaled;
}

float Log(float a) {
  const float l = Log2(a);
  const float result =
      std::fma(l, FromBits(0x3F317217), l * FromBits(0x3377D1CF));
  return result != result ? Nan() : result;
}

namespace {

// a^y of a finite a above 0 and a finite y: 2^(y * log2(a)), the logarithm as a
// sum of two numbers.
float PositivePower(float a, float y) {
  const bool tiny = BitsOf(a) < 0x00800000;
  const uint32_t up = BitsOf(tiny ? a * 16777216.0f : a);
  const int32_t k = static_cast<int32_t>(up - 0x3F3504F3) >> 23;
  const float m = FromBits(up - (static_cast<uint32_t>(k) << 23));
  const float e = static_cast<float>(k - (tiny ? 24 : 0));
  const float u = m - 1, v = m + 1, rest = m - (v - 1);
  const float r = Reciprocal(v);
  const float f = u * r;
  const float g = std::fma(-f, rest, std::fma(-f, v, u)) * r;
  const float s = f * f;
  float p = std::fma(s, FromBits(0x3E864D42), FromBits(0x3EA4258A));
  p = std::fma(s, p, FromBits(0x3ED30BB1));
  p = std::fma(s, p, FromBits(0x3F13BB63));
  p = std::fma(s, p, FromBits(0x3F76384F));
  const float high = f * FromBits(0x4038AA3B);
  float low = std::fma(f, FromBits(0x4038AA3B), -high);
  low = std::fma(f, FromBits(0x33257060), low);
  low = std::fma(g, FromBits(0x4038AA3B), low);
  low = std::fma(f * s, p, low);
  const float sum = e + high;
  const float left = low + (high - (sum - e));
  const float l = sum + left;
  const float w = y * l;
  const float c = std::max(std::min(w, 140.0f), -160.0f);
  float d = std::fma(y, left - (l - sum), std::fma(y, l, -w));
  if (c != w) d = 0;
  const auto n = static_cast<int32_t>(std::rint(c));
  const float q = Exp2(c - static_cast<float>(n));
  const float t = std::fma(q, d * FromBits(0x3F317218), q);
  const auto power = [](int32_t of) {
    return FromBits(static_cast<uint32_t>(of + 127) << 23);
  };
  return t * power(n >> 1) * power(n - (n >> 1));
}

}  // namespace

float Power(float x, float y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return Nan();
  const float a = std::fabs(x);
  const bool small = std::fabs(y) < 16777216.0f;
  const bool whole = !small || std::rint(y) == y;
  const bool odd = small && whole && (static_cast<int32_t>(y) & 1) != 0;
  const bool finite = BitsOf(a) < kInfinityBits;
  if (x < 0 && finite && !whole) return Nan();
  float size;
  if (a == 1) {
    size = 1;
  } else if (a > 0 && finite && BitsOf(std::fabs(y)) < kInfinityBits) {
    size = PositivePower(a, y);
  } else {
    size = Exp2(y * Log2(a));
  }
  return odd ? std::copysign(size, x) : size;
}

}  // namespace systole::ir
