// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Element types that C++ does not have. Each has its size in memory.
#ifndef SYSTOLE_HOST_IR_SCALAR_H_
#define SYSTOLE_HOST_IR_SCALAR_H_

#include <cstdint>
#include <cstring>

namespace systole::ir {

// The only NaN that arithmetic produces (docs/numerics.md).
constexpr uint32_t kNanBits = 0x7FC00000;
constexpr uint32_t kInfinityBits = 0x7F800000;  // of positive infinity

inline uint32_t BitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// A byte that is 0 or 1.
struct Bool {
  uint8_t value = 0;

  Bool() = default;
  constexpr Bool(bool v) : value(v ? 1 : 0) {}            // NOLINT: converts
  constexpr operator bool() const { return value != 0; }  // NOLINT
};

// The upper half of an fp32 number.
struct Bfloat16 {
  uint16_t bits = 0;

  Bfloat16() = default;
  // Rounds to nearest even, overflows to infinity; every NaN becomes 0x7FC0.
  explicit Bfloat16(float value) {
    const uint32_t b = BitsOf(value);
    bits = (b & 0x7FFFFFFF) > kInfinityBits
               ? 0x7FC0
               : static_cast<uint16_t>((b + 0x7FFF + (b >> 16 & 1)) >> 16);
  }
  operator float() const { return FromBits(uint32_t{bits} << 16); }  // NOLINT
};

// IEEE binary16: 5 exponent bits, 10 mantissa bits.
struct Float16 {
  uint16_t bits = 0;

  Float16() = default;
  // Rounds to nearest even, overflows to infinity; every NaN becomes 0x7E00.
  explicit Float16(float value);
  operator float() const;  // NOLINT: exact
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_SCALAR_H_
