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

// The factor of a mean of `count` values from that of a single one. 1 / count
// is merged into it, as in TensorFlow Lite's kernels; the multiplier may be
// below 2^30.
Factor MeanFactor(Factor factor, int64_t count);

int32_t Saturate(int64_t value);
// Saturation to 8 and 16 bits.
inline int8_t Clamped(int64_t value) {
  return static_cast<int8_t>(std::clamp<int64_t>(value, -128, 127));
}
inline int32_t Clamped16(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, -32768, 32767));
}
// a * b / 2^31, halves rounded up.
int32_t HighProduct(int32_t a, int32_t b);
// value * 2^exponent: a left shift saturates, a right shift rounds halves away
// from zero.
int32_t Shift(int32_t value, int exponent);
// value * factor, rounded twice.
int32_t Scale(int32_t value, Factor factor);

// Rescales a sum of `count` values, given relative to their zero point, to
// steps of the result's scale, relative to its zero point. It computes in
// single precision from the plain sum, minus the part of the zero point, like
// TensorFlow Lite's kernel.
int64_t RescaledSum(int64_t centred, int64_t count, const Quantization& from,
                    float to_scale);

// 1 / (1 + e^-a) for a with 3 integer bits, and tanh(a) for a with 0 .. 6; the
// results have no integer bits.
int16_t LogisticOf16(int16_t a);
int16_t TanhOf16(int16_t a, int integer_bits);
// e^a for a <= 0 with `integer_bits`, and 1 / (1 + a) for a in 0..1 without
// integer bits; the results have none.
int32_t ExpOf(int32_t a, int integer_bits);
int32_t InverseOfOnePlus(int32_t a);
// 1 / sqrt(value) of a positive integer.
Factor InverseRootOf(int32_t value);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_QUANT_FIXED_POINT_H_
