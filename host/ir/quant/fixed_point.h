// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The fixed-point arithmetic of docs/numerics.md, as the host computes it.
#ifndef SYSTOLE_HOST_IR_QUANT_FIXED_POINT_H_
#define SYSTOLE_HOST_IR_QUANT_FIXED_POINT_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "host/ir/type.h"

namespace systole::ir {

// multiplier / 2^31 * 2^shift.
struct Factor {
  int32_t multiplier = 0;  // 0 or 2^30 .. 2^31-1
  int shift = 0;           // -31 .. 30
};

// Errors: InvalidArgument for factors that are negative, not finite or too
// large.
absl::StatusOr<Factor> FactorOf(double real);

// The factor of a mean of `count` values from that of one: 1 / count joins it,
// as TensorFlow Lite's kernels do it; below 2^30 in general.
Factor MeanFactor(Factor factor, int64_t count);

int32_t Saturate(int64_t value);
// To what 8 and 16 bits hold.
inline int8_t Clamped(int64_t value) {
  return static_cast<int8_t>(std::clamp<int64_t>(value, -128, 127));
}
inline int32_t Clamped16(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, -32768, 32767));
}
// a * b / 2^31, halves up.
int32_t HighProduct(int32_t a, int32_t b);
// value * 2^exponent: saturating to the left, to the right rounding, halves
// away from zero.
int32_t Shift(int32_t value, int exponent);
// value * factor, rounded twice.
int32_t Scale(int32_t value, Factor factor);

// A sum of `count` values, from what they are above their zero point, in steps
// of the result's scale above its: in single precision, of the plain sum, less
// what the zero point adds to it, as TensorFlow Lite's kernel does it.
int64_t RescaledSum(int64_t centred, int64_t count, const Quantization& from,
                    float to_scale);

// 1 / (1 + e^-a) of a with 3 integer bits and tanh(a) of a with 0 .. 6, both
// without integer bits.
int16_t LogisticOf16(int16_t a);
int16_t TanhOf16(int16_t a, int integer_bits);
// e^a of a <= 0 with `integer_bits`, and 1 / (1 + a) of a in 0..1 without,
// both without integer bits.
int32_t ExpOf(int32_t a, int integer_bits);
int32_t InverseOfOnePlus(int32_t a);
// 1 / sqrt(value) of a positive integer.
Factor InverseRootOf(int32_t value);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_QUANT_FIXED_POINT_H_
