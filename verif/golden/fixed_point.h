// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Transcendental functions on 32-bit fixed-point numbers, docs/numerics.md
// ("Softmax, logistic, tanh"). A number with `b` integer bits is
// raw / 2^(31 - b).
#ifndef SYSTOLE_VERIF_GOLDEN_FIXED_POINT_H_
#define SYSTOLE_VERIF_GOLDEN_FIXED_POINT_H_

#include <cstdint>

#include "verif/golden/numerics.h"

namespace systole::golden {

// `srmbpot` of the specification: raw * 2^exponent. A left shift saturates, a
// right shift rounds.
int32_t SaturatingRoundingMultiplyByPot(int32_t raw, int exponent);

// e^a for a <= 0 with `integer_bits`; the result has no integer bits (1 is
// MAX).
int32_t ExpOfNegative(int32_t a, int integer_bits);

// 1 / (1 + a) for a in 0..1; neither a nor the result has integer bits.
int32_t OneOverOnePlus(int32_t a);

// 1 / sqrt(value) of a positive integer.
Multiplier OneOverSquareRoot(int32_t value);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_FIXED_POINT_H_
