// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of docs/numerics.md, with the same names.
#ifndef SYSTOLE_SIM_ISS_NUMERICS_H_
#define SYSTOLE_SIM_ISS_NUMERICS_H_

#include <algorithm>
#include <cstdint>
#include <limits>

namespace systole::iss {

inline constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
inline constexpr int32_t kMax = std::numeric_limits<int32_t>::max();

inline int32_t Sat32(int64_t v) {
  return static_cast<int32_t>(std::clamp<int64_t>(v, kMin, kMax));
}

// Saturating rounding doubling high multiply; rounds halves up. Only MIN * MIN
// saturates.
inline int32_t Srdhm(int32_t a, int32_t b) {
  return Sat32((int64_t{a} * b + (int64_t{1} << 30)) >> 31);
}

// Divides by 2^n and rounds halves away from zero.
inline int32_t Rdbpot(int32_t x, int n) {
  const int64_t mask = (int64_t{1} << n) - 1;
  const int64_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return static_cast<int32_t>((int64_t{x} >> n) +
                              ((int64_t{x} & mask) > threshold ? 1 : 0));
}

// The specification defines s in -31..30; a shift outside acts like the nearest
// of these.
inline int32_t Requantise(int32_t x, int32_t m, int s, bool single_round) {
  s = std::clamp(s, -31, 30);
  if (single_round) {
    const int n = 31 - s;
    return Sat32((int64_t{x} * m + (int64_t{1} << (n - 1))) >> n);
  }
  const int32_t x1 = Sat32(int64_t{x} * (int64_t{1} << std::max(s, 0)));
  return Rdbpot(Srdhm(x1, m), std::max(-s, 0));
}

inline int8_t Clamp8(int64_t v, int32_t low, int32_t high) {
  return static_cast<int8_t>(
      std::min<int64_t>(std::max<int64_t>(v, low), high));
}

// Mean of `count` values with this sum; rounds halves away from zero.
inline int32_t Average(int32_t sum, int32_t count) {
  const int32_t half = count / 2;
  return sum > 0 ? (sum + half) / count : (sum - half) / count;
}

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_NUMERICS_H_
