// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The functions of docs/numerics.md, "Functions", to the bit: argument and
// result are the bits of an fp32 number.
//
//   uint32_t half = Reciprocal(0x40000000);  // 1 / 2
#ifndef SYSTOLE_VERIF_GOLDEN_FUNCTIONS_H_
#define SYSTOLE_VERIF_GOLDEN_FUNCTIONS_H_

#include <cstdint>

namespace systole::golden {

uint32_t Exp2(uint32_t a);
uint32_t Log2(uint32_t a);
uint32_t Reciprocal(uint32_t a);
uint32_t ReciprocalSqrt(uint32_t a);
uint32_t Tanh(uint32_t a);

// "Exponential and logarithm": compositions of several operations.
uint32_t Exp(uint32_t a);
uint32_t Log(uint32_t a);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_FUNCTIONS_H_
