// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/iss/vpu_functions.h"

#include <cstring>

#include "sim/iss/vpu_lanes.h"
#include "systole/gen/sfu.h"

namespace systole::iss {
namespace {

constexpr uint32_t kSign = 0x80000000, kInfinity = 0x7F800000,
                   kOne = 0x3F800000;
constexpr int64_t kFractionMask = (int64_t{1} << 23) - 1;
constexpr int64_t kFixedMask = (int64_t{1} << 30) - 1;

// Argument as m * 2^(x - 23), 2^23 <= m < 2^24, without the sign; not for zero,
// infinities and NaNs.
struct Parts {
  int64_t m, g;  // g: m without its first bit
  int x;
};

Parts PartsOf(uint32_t a) {
  int x = static_cast<int>(a >> 23 & 255) - 127;
  int64_t m = a & kFractionMask;
  if (x == -127) {
    x = -126;
    for (; m < kFractionMask + 1; m *= 2) --x;
  } else {
    m += kFractionMask + 1;
  }
  return {m, m & kFractionMask, x};
}

// 2^n, for a normal double.
double PowerOfTwo(int n) {
  const uint64_t bits = static_cast<uint64_t>(n + 1023) << 52;
  double d;
  std::memcpy(&d, &bits, sizeof d);
  return d;
}

// v * 2^k, rounded to nearest even. Below the first 32 bits of v only a sticky
// bit is kept, so the double is exact and the result is rounded once.
uint32_t Round(uint64_t v, int k) {
  int shift = 0;
  while (v >> shift >> 32 != 0) ++shift;
  const uint64_t rest = v & ((uint64_t{1} << shift) - 1);
  const uint64_t top = (v >> shift) * 2 + (rest != 0 ? 1 : 0);
  return BitsOf(
      static_cast<float>(static_cast<double>(top) * PowerOfTwo(k + shift - 1)));
}

int64_t Poly(int64_t i, int64_t t) {
  const sfu::Segment& s = sfu::kTable[i];
  const int64_t slope = int64_t{s.c1} * 128 + ((t >> 6) * s.c2 >> 10);
  return s.c0 + (t * slope >> 30);
}
int64_t Split(int base, int n, int64_t g) {
  return Poly(base + (g >> (23 - n)), (g << n) & kFractionMask);
}
int64_t SplitFixed(int base, int64_t w) {
  return Poly(base + (w >> 23), w & kFractionMask);
}

// floor(|a| * 2^30), |a| < 2^8.
int64_t Fixed(uint32_t a) {
  if ((a & ~kSign) == 0) return 0;
  const Parts p = PartsOf(a);
  const int shift = p.x + 7;
  if (shift >= 0) return p.m << shift;
  return shift < -24 ? 0 : p.m >> -shift;
}

}  // namespace

uint32_t Exp2(uint32_t a) {
  if (IsNan(a)) return kNan;
  if ((a & ~kSign) >= 0x43800000) return (a & kSign) != 0 ? 0 : kInfinity;
  const int64_t w = (a & kSign) != 0 ? -Fixed(a) : Fixed(a);
  return Round(SplitFixed(sfu::kExp2Base, w & kFixedMask),
               static_cast<int>(w >> 30) - 30);
}

uint32_t Log2(uint32_t a) {
  if (IsNan(a)) return kNan;
  if ((a & ~kSign) == 0) return kSign | kInfinity;
  if ((a & kSign) != 0) return kNan;
  if (a == kInfinity) return a;
  const Parts p = PartsOf(a);
  const int h = p.g >> 22 != 0 ? 1 : 0;
  const int64_t d = (h != 0 ? p.m : 2 * p.m) - (int64_t{1} << 24);
  const int64_t v =
      (p.x + h) * (int64_t{1} << 54) + d * Split(sfu::kLog2Base, 7, p.g);
  return v >= 0 ? Round(v, -54) : kSign | Round(-v, -54);
}

uint32_t Reciprocal(uint32_t a) {
  const uint32_t sign = a & kSign;
  if (IsNan(a)) return kNan;
  if ((a & ~kSign) == 0) return sign | kInfinity;
  if ((a & ~kSign) == kInfinity) return sign;
  const Parts p = PartsOf(a);
  return sign | Round(Split(sfu::kRcpBase, 8, p.g), -p.x - 31);
}

uint32_t ReciprocalSquareRoot(uint32_t a) {
  if (IsNan(a)) return kNan;
  if ((a & ~kSign) == 0) return a | kInfinity;
  if ((a & kSign) != 0) return kNan;
  if (a == kInfinity) return 0;
  const Parts p = PartsOf(a);
  const int base = (p.x & 1) != 0 ? sfu::kRsqrt2Base : sfu::kRsqrtBase;
  return Round(Split(base, 7, p.g), -(p.x >> 1) - 31);
}

uint32_t Tanh(uint32_t a) {
  const uint32_t sign = a & kSign, magnitude = a & ~kSign;
  if (IsNan(a)) return kNan;
  if (magnitude < 0x39800000) return a;  // 2^-12
  if (magnitude >= 0x41800000) return sign | kOne;
  const Parts p = PartsOf(a);
  switch (p.x) {
    case 0:
      return sign | Round(Split(sfu::kTanh1Base, 6, p.g), -30);
    case 1:
      return sign | Round(Split(sfu::kTanh2Base, 7, p.g), -30);
    case 2:
      return sign | Round(Split(sfu::kTanh4Base, 6, p.g), -30);
    case 3:
      return sign | Round(Split(sfu::kTanh8Base, 4, p.g), -30);
    default:
      return sign | Round(p.m * SplitFixed(sfu::kTanhBase, Fixed(a)), p.x - 53);
  }
}

}  // namespace systole::iss
