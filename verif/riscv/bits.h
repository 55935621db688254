// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#ifndef SYSTOLE_VERIF_RISCV_BITS_H_
#define SYSTOLE_VERIF_RISCV_BITS_H_

#include <cstdint>

namespace systole::riscv {

// Bits high..low of a word, as the lowest ones.
inline uint32_t Bits(uint32_t word, int high, int low) {
  return word >> low & ((2u << (high - low)) - 1);
}
// The lowest `bits` as a signed number.
inline uint32_t Signed(uint32_t value, int bits) {
  const uint32_t sign = 1u << (bits - 1);
  return (value ^ sign) - sign;
}

}  // namespace systole::riscv

#endif  // SYSTOLE_VERIF_RISCV_BITS_H_
