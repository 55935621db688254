// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#ifndef SYSTOLE_VERIF_RISCV_BITS_H_
#define SYSTOLE_VERIF_RISCV_BITS_H_

#include <cstdint>

namespace systole::riscv {

// Bits high .. low of a word, shifted down to bit 0.
inline uint32_t Bits(uint32_t word, int high, int low) {
  return word >> low & ((2u << (high - low)) - 1);
}
// Sign-extends the lowest `bits` bits.
inline uint32_t Signed(uint32_t value, int bits) {
  const uint32_t sign = 1u << (bits - 1);
  return (value ^ sign) - sign;
}

}  // namespace systole::riscv

#endif  // SYSTOLE_VERIF_RISCV_BITS_H_
