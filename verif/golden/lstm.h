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

// 1 / (1 + e^-a) of a with 3 integer bits, tanh(a) of a with 0 to 6; both of 16
// bits, results without integer bits.
int16_t Logistic16(int16_t a);
int16_t Tanh16(int16_t a, int integer_bits);

// One row's sums: four gates (input, forget, candidate, output) of as many
// units as there are cells.
struct LstmSums {
  const int32_t* input;
  const int32_t* recurrent;
};

// Real factors of the sums of a gate.
struct GateFactors {
  float input = 0, recurrent = 0;
};

// The cells of a step, from those of the step before. `exponent`: the cell's
// scale is 2^exponent. `clip`: 0 for none.
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
