// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// One lane of the programmable vector unit: docs/vpu.md. Lanes are bit
// patterns; loops over them should be vectorised.
#ifndef SYSTOLE_SIM_ISS_VPU_LANES_H_
#define SYSTOLE_SIM_ISS_VPU_LANES_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace systole::iss {

inline constexpr uint32_t kNan = 0x7FC00000;

inline float FloatOf(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}
inline uint32_t BitsOf(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return bits;
}
inline bool IsNan(uint32_t bits) { return (bits & 0x7FFFFFFF) > 0x7F800000; }
inline bool IsInfinite(uint32_t bits) {
  return (bits & 0x7FFFFFFF) == 0x7F800000;
}
// The bits of an arithmetic result, with the one NaN.
inline uint32_t Canonical(float f) { return f != f ? kNan : BitsOf(f); }
inline uint32_t Mask(bool b) { return b ? ~uint32_t{0} : 0; }

inline float Bf16(uint16_t bits) { return FloatOf(uint32_t{bits} << 16); }

// fp32 to bf16, rounded to nearest even: the result is in the upper half, the
// lower half is 0.
inline uint32_t RoundBf16(uint32_t a) {
  const uint32_t rounded = (a + 0x7FFF + (a >> 16 & 1)) & 0xFFFF0000;
  return IsNan(a) ? kNan : rounded;
}
inline uint32_t RoundStochastically(uint32_t a, uint32_t random) {
  const uint32_t rounded = (a + (random & 0xFFFF)) & 0xFFFF0000;
  const bool infinite = (a & 0x7FFFFFFF) == 0x7F800000;
  return IsNan(a) ? kNan : infinite ? a : rounded;
}

// For a value that is an integer or NaN.
inline uint32_t SaturatedInt(float whole) {
  if (whole != whole) return 0;
  if (whole >= 2147483648.0f) return 0x7FFFFFFF;
  if (whole < -2147483648.0f) return 0x80000000;
  return static_cast<uint32_t>(static_cast<int32_t>(whole));
}

// Minimum and maximum. Equal numbers with different bits are zeros.
inline uint32_t FloatMin(uint32_t a, uint32_t b) {
  const float x = FloatOf(a), y = FloatOf(b);
  if (x != x || y != y) return kNan;
  return x < y ? a : y < x ? b : a | b;
}
inline uint32_t FloatMax(uint32_t a, uint32_t b) {
  const float x = FloatOf(a), y = FloatOf(b);
  if (x != x || y != y) return kNan;
  return x > y ? a : y > x ? b : a & b;
}

inline uint32_t Mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7FEB352D;
  x ^= x >> 15;
  x *= 0x846CA68B;
  return x ^ x >> 16;
}

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_VPU_LANES_H_
