// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/golden/functions.h"

#include "host/include/systole/gen/sfu.h"
#include "verif/golden/fp32.h"

namespace systole::golden {
namespace {

constexpr uint32_t kSign = 0x80000000, kInfinity = 0x7F800000;
constexpr uint32_t kNan = 0x7FC00000, kOne = 0x3F800000;
constexpr uint32_t kTiny = 0x39800000;  // 2^-12

bool IsNan(uint32_t a) { return (a & ~kSign) > kInfinity; }

// value * 2^k to nearest even, value > 0.
uint32_t Round(uint64_t value, int k) {
  const int leading = 63 - __builtin_clzll(value);
  // The weight of the last place is 2^last.
  int last = k + leading - 23;
  if (last < -149) last = -149;
  const int cut = last - k;  // bits of the value below it
  uint64_t significand;
  if (cut <= 0) {
    significand = value << -cut;
  } else if (cut > 63) {
    significand = 0;
  } else {
    significand = value >> cut;
    const uint64_t rest = value - (significand << cut);
    const uint64_t half = uint64_t{1} << (cut - 1);
    if (rest > half || (rest == half && significand % 2 == 1)) ++significand;
  }
  if (significand == 1 << 24) {
    significand >>= 1;
    ++last;
  }
  if (last > 104) return kInfinity;
  if (significand < 1 << 23) return static_cast<uint32_t>(significand);
  return static_cast<uint32_t>(last + 150) << 23 |
         (static_cast<uint32_t>(significand) & 0x7FFFFF);
}

// The quadratic of segment i at t / 2^23.
int64_t Polynomial(int i, uint32_t t) {
  const sfu::Segment& s = sfu::kTable[i];
  const int64_t slope =
      s.c1 * 128 + ((static_cast<int64_t>(t >> 6) * s.c2) >> 10);
  return s.c0 + ((t * slope) >> 30);
}

// A positive finite number: m * 2^(exponent - 23), 2^23 <= m < 2^24.
struct Normalised {
  explicit Normalised(uint32_t a)
      : m(a & 0x7FFFFF), exponent(static_cast<int>(a >> 23) - 127) {
    if (exponent > -127) {
      m += 1 << 23;
      return;
    }
    for (exponent = -126; m < 1 << 23; --exponent) m *= 2;
  }

  uint32_t fraction() const { return m - (1 << 23); }

  uint32_t m;
  int exponent;
};

// The segment of a 23-bit fraction among 2^bits segments, and the position in
// it.
uint32_t Index(uint32_t fraction, int bits) { return fraction >> (23 - bits); }
uint32_t Place(uint32_t fraction, int bits) {
  return (fraction << bits) & 0x7FFFFF;
}

}  // namespace

uint32_t Exp2(uint32_t a) {
  if (IsNan(a)) return kNan;
  const bool negative = (a & kSign) != 0;
  const Normalised x(a & ~kSign ? a & ~kSign : 1);  // 2^0 is 2^tiny
  if (x.exponent >= 8) return negative ? 0 : kInfinity;
  // |x| in units of 2^-30, rounded down.
  const int shift = x.exponent + 7;
  int64_t fixed = shift >= 0    ? int64_t{x.m} << shift
                  : shift < -31 ? 0
                                : x.m >> -shift;
  if (negative) fixed = -fixed;
  const auto fraction = static_cast<uint32_t>(fixed & 0x3FFFFFFF);
  const int whole = static_cast<int>(fixed >> 30);
  return Round(
      Polynomial(sfu::kExp2Base + (fraction >> 23), fraction & 0x7FFFFF),
      whole - 30);
}

uint32_t Log2(uint32_t a) {
  if ((a & ~kSign) == 0) return kSign | kInfinity;
  if (IsNan(a) || (a & kSign) != 0) return kNan;
  if (a == kInfinity) return kInfinity;
  const Normalised x(a);
  const bool halve = x.fraction() >= 1 << 22;
  const int64_t exponent = x.exponent + halve;
  const int64_t d = (int64_t{x.m} << !halve) - (1 << 24);
  const int64_t value = exponent * (int64_t{1} << 54) +
                        d * Polynomial(sfu::kLog2Base + Index(x.fraction(), 7),
                                       Place(x.fraction(), 7));
  if (value == 0) return 0;
  return value < 0 ? kSign | Round(-value, -54) : Round(value, -54);
}

uint32_t Reciprocal(uint32_t a) {
  if (IsNan(a)) return kNan;
  const uint32_t sign = a & kSign;
  if ((a & ~kSign) == 0) return sign | kInfinity;
  if ((a & ~kSign) == kInfinity) return sign;
  const Normalised x(a & ~kSign);
  return sign | Round(Polynomial(sfu::kRcpBase + Index(x.fraction(), 8),
                                 Place(x.fraction(), 8)),
                      -x.exponent - 31);
}

uint32_t ReciprocalSqrt(uint32_t a) {
  if ((a & ~kSign) == 0) return a | kInfinity;
  if (IsNan(a) || (a & kSign) != 0) return kNan;
  if (a == kInfinity) return 0;
  const Normalised x(a);
  const bool odd = x.exponent % 2 != 0;
  const int half = (x.exponent - odd) / 2;
  return Round(Polynomial((odd ? sfu::kRsqrt2Base : sfu::kRsqrtBase) +
                              Index(x.fraction(), 7),
                          Place(x.fraction(), 7)),
               -half - 31);
}

uint32_t Tanh(uint32_t a) {
  if (IsNan(a)) return kNan;
  const uint32_t sign = a & kSign, magnitude = a & ~kSign;
  if (magnitude < kTiny) return a;
  const Normalised x(magnitude);
  if (x.exponent >= 4) return sign | kOne;
  if (x.exponent < 0) {  // x * (tanh(x) / x)
    const uint32_t fixed =
        x.exponent >= -7 ? x.m << (x.exponent + 7) : x.m >> (-x.exponent - 7);
    return sign | Round(x.m * Polynomial(sfu::kTanhBase + (fixed >> 23),
                                         fixed & 0x7FFFFF),
                        x.exponent - 53);
  }
  static constexpr struct {
    int base, bits;
  } kOctaves[4] = {{sfu::kTanh1Base, 6},
                   {sfu::kTanh2Base, 7},
                   {sfu::kTanh4Base, 6},
                   {sfu::kTanh8Base, 4}};
  const auto [base, bits] = kOctaves[x.exponent];
  return sign | Round(Polynomial(base + Index(x.fraction(), bits),
                                 Place(x.fraction(), bits)),
                      -30);
}

uint32_t Exp(uint32_t a) {
  using namespace fp32;  // NOLINT
  const float log2_e = FromBits(0x3FB8AA3B), log2_e_rest = FromBits(0x32A57060);
  const float minus_ln2 = FromBits(0xBF317218);
  const float x = Max(Min(FromBits(a), 89.0f), -110.0f);
  const float w = Mul(x, log2_e);
  const float r = Fnma(x, log2_e_rest, Fnma(x, log2_e, w));
  const bool large = w > 64.0f;
  const float y = FromBits(Exp2(ToBits(Sub(w, large ? 1.0f : 0.0f))));
  return ToBits(Mul(Fma(y, Mul(r, minus_ln2), y), large ? 2.0f : 1.0f));
}

uint32_t Log(uint32_t a) {
  using namespace fp32;  // NOLINT
  const float l = FromBits(Log2(a));
  const float ln2 = FromBits(0x3F317217), ln2_rest = FromBits(0x3377D1CF);
  return ToBits(Fma(l, ln2, Mul(l, ln2_rest)));
}

}  // namespace systole::golden
