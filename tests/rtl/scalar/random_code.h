// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random programs of RV32IMC that never end: a body of random instructions that
// jumps back to its start, and handlers that acknowledge interrupts and step
// over what trapped.
//
//   0x0100   vectors, and at 0x0180 the handler of exceptions
//   0x1000   set-up of registers, the body up to 0x5000
//   x2, x3, x8, x9 point to data, x30 and x31 are the handlers'

#ifndef SYSTOLE_TESTS_RTL_SCALAR_RANDOM_CODE_H_
#define SYSTOLE_TESTS_RTL_SCALAR_RANDOM_CODE_H_

#include <cstdint>
#include <map>

namespace systole::riscv {

inline constexpr uint32_t kResetVector = 0x1080, kAcknowledge = 0x90000000u;
// Refused by the memory.
inline constexpr uint32_t kRefused = 0xF0000000u;

// Bytes by address.
std::map<uint32_t, uint8_t> RandomCode(uint64_t seed);

}  // namespace systole::riscv

#endif  // SYSTOLE_TESTS_RTL_SCALAR_RANDOM_CODE_H_
