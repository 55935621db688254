// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The fused multiply-add of docs/numerics.md: for bf16 and fp32 with the host's
// floating point, and for any binary format with integers.
//
//   uint32_t sum = FusedMultiplyAdd(0x3F80, 0x4000, 0);  // 1 * 2 + 0
#ifndef SYSTOLE_VERIF_GOLDEN_FUSED_H_
#define SYSTOLE_VERIF_GOLDEN_FUSED_H_

#include <cstdint>

namespace systole::golden {

inline constexpr uint32_t kCanonicalNan = 0x7FC00000;

// bf16 operands and fp32 sum, all as bits. Computed by std::fma, with one NaN.
uint32_t FusedMultiplyAdd(uint16_t a, uint16_t b, uint32_t sum);

// A binary format by the rules of IEEE 754, with at most 32 bits.
struct FloatFormat {
  int exponent_bits, mantissa_bits;

  int bits() const { return 1 + exponent_bits + mantissa_bits; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  uint32_t infinity() const {
    return ((1u << exponent_bits) - 1) << mantissa_bits;
  }
  uint32_t nan() const { return infinity() | 1u << (mantissa_bits - 1); }
};
inline constexpr FloatFormat kBf16{8, 7};
inline constexpr FloatFormat kFp32{8, 23};

// The same sum with exact integers: product and addend in units of the smallest
// number that either can hold, rounded once. Exponents have up to 8 bits.
uint32_t ExactFusedMultiplyAdd(FloatFormat operand, FloatFormat sum_format,
                               uint32_t a, uint32_t b, uint32_t sum);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_FUSED_H_
