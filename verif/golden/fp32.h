// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The fp32 operations of docs/vpu.md, "ALU", one rounding each; NaN results
// are 0x7FC00000.
#ifndef SYSTOLE_VERIF_GOLDEN_FP32_H_
#define SYSTOLE_VERIF_GOLDEN_FP32_H_

#include <cmath>
#include <cstdint>
#include <cstring>

namespace systole::golden::fp32 {

inline float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint32_t ToBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float Canonical(float value) {
  return value == value ? value : FromBits(0x7FC00000);
}

inline float Add(float a, float b) { return Canonical(a + b); }
inline float Sub(float a, float b) { return Canonical(a - b); }
inline float Mul(float a, float b) { return Canonical(a * b); }
inline float Fma(float a, float b, float c) {
  return Canonical(std::fma(a, b, c));
}
// c - a * b.
inline float Fnma(float a, float b, float c) {
  return Canonical(std::fma(-a, b, c));
}

// -0 < +0.
inline float Max(float a, float b) {
  if (a != a || b != b) return FromBits(0x7FC00000);
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

inline float Min(float a, float b) {
  if (a != a || b != b) return FromBits(0x7FC00000);
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

// Rounded to bf16, to nearest even.
inline float Bf16(float value) {
  if (value != value) return FromBits(0x7FC00000);
  const uint32_t bits = ToBits(value);
  return FromBits((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000);
}

}  // namespace systole::golden::fp32

#endif  // SYSTOLE_VERIF_GOLDEN_FP32_H_
