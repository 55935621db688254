// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The steps of an LSTM in 8 and 16 bits: docs/numerics.md, "LSTM".
#ifndef SYSTOLE_VERIF_GOLDEN_LSTM_H_
#define SYSTOLE_VERIF_GOLDEN_LSTM_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace systole::golden {

// 1 / (1 + e^-a) for a with 3 integer bits, tanh(a) for a with 0 to 6. Both
// have 16 bits, and the results have no integer bits.
int16_t Logistic16(int16_t a);
int16_t Tanh16(int16_t a, int integer_bits);

// Sums of one row: four gates (input, forget, candidate, output) with one unit
// per cell.
struct LstmSums {
  const int32_t* input;
  const int32_t* recurrent;
};

// Real factors of a gate's sums.
struct GateFactors {
  float input = 0, recurrent = 0;
};

// The cells after a step, from those before it. `exponent`: the scale of the
// cells is 2^exponent. `clip`: 0 for none.
absl::StatusOr<std::vector<int16_t>> LstmCells(
    const LstmSums& sums, const std::array<GateFactors, 3>& factors,
    const std::vector<int16_t>& before, int exponent, int clip);

// The stored results of a step.
absl::StatusOr<std::vector<int8_t>> LstmResults(
    const LstmSums& sums, const GateFactors& factors,
    const std::vector<int16_t>& cells, int exponent, float hidden_scale,
    int hidden_zero_point);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_LSTM_H_
