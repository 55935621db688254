// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Scalar arithmetic of docs/numerics.md. This file is written from that page
// alone.
#ifndef SYSTOLE_VERIF_GOLDEN_NUMERICS_H_
#define SYSTOLE_VERIF_GOLDEN_NUMERICS_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace systole::golden {

enum class Rounding { kDouble, kSingle };

// multiplier / 2^31 * 2^shift; multiplier 0 or 2^30..2^31-1, shift -31..30.
struct Multiplier {
  int32_t multiplier = 0;
  int shift = 0;
};

// `value` clamped to the range of int32.
int32_t Saturate32(int64_t value);

// `acc + addend`, saturated; sets `sticky` (and never clears it) on saturation.
int32_t AddSaturating(int32_t acc, int64_t addend, bool& sticky);

// `srdhm` and `rdbpot` of the specification; 0 <= exponent <= 31.
int32_t SaturatingRoundingDoublingHighMul(int32_t a, int32_t b);
int32_t RoundingDivideByPot(int32_t x, int exponent);

// Any int32 multiplier is allowed; the shift is -31..30.
int32_t Requantize(int32_t x, Multiplier m, Rounding rounding);

// sum / count, halves away from zero; count > 0.
int64_t RoundedAverage(int64_t sum, int64_t count);

// `quantise_multiplier` of the specification; fails on negative, infinite and
// too large factors.
absl::StatusOr<Multiplier> QuantizeMultiplier(double real);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_NUMERICS_H_
