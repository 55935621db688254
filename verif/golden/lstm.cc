// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/lstm.h"

#include <algorithm>
#include <cmath>

#include "verif/golden/numerics.h"

namespace systole::golden {
namespace {

constexpr int32_t kMin16 = -32768, kMax16 = 32767;

int32_t To16(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, kMin16, kMax16));
}

// a * b / 2^15; halves round up.
int32_t Times(int32_t a, int32_t b) {
  const int64_t product = int64_t{a} * b;
  const int64_t nudge = product < 0 ? 1 - (1 << 14) : 1 << 14;
  return To16((product + nudge) / (1 << 15));
}

int32_t TimesPot(int32_t a, int exponent) {
  return exponent < 0 ? RoundingDivideByPot(a, -exponent)
                      : To16(int64_t{a} * (1 << exponent));
}

// e^a for a <= 0 with `integer_bits`. The constants are the 32-bit ones divided
// by 2^16.
int32_t Exponential(int32_t a, int integer_bits) {
  if (a == 0) return kMax16;
  const int32_t one = 1 << (15 - integer_bits);
  if (integer_bits > 5 && a < -32 * one) return 0;
  const int32_t quarter = one / 4;
  const int32_t near = (a & (quarter - 1)) - quarter;
  const int32_t rest = near - a;
  // The Taylor polynomial of the fourth degree around -1/8.
  constexpr int32_t kExpOfMinusEighth = 28918, kThird = 10923;
  const int32_t x = TimesPot(near, integer_bits) + (1 << 12);
  const int32_t x2 = Times(x, x), x3 = Times(x2, x), x4 = Times(x2, x2);
  const int32_t high = TimesPot(Times(TimesPot(x4, -2) + x3, kThird) + x2, -1);
  int32_t result = To16(kExpOfMinusEighth + Times(kExpOfMinusEighth, x + high));
  // e^-(1/4), e^-(1/2), ..., e^-16.
  constexpr int32_t kFactors[] = {25520, 19875, 12055, 4435, 600, 11, 0};
  int32_t unit = quarter;
  for (int k = 0; k < 7 && k - 2 < integer_bits; ++k, unit *= 2) {
    if ((rest / unit) % 2 == 1) result = Times(result, kFactors[k]);
  }
  return result;
}

// 2 / (1 + a) with 2 integer bits.
int32_t TwoOver(int32_t a) {
  const int32_t sum = a + kMax16;
  const int32_t half = (sum + (sum < 0 ? -1 : 1)) / 2;
  int32_t x = 23130 + Times(half, -15420);
  for (int step = 0; step < 3; ++step) {
    x += TimesPot(Times(x, (1 << 13) - Times(half, x)), 2);
  }
  return x;
}

absl::StatusOr<std::vector<int16_t>> GateSums(const LstmSums& sums, int gate,
                                              const GateFactors& factors,
                                              size_t units) {
  const absl::StatusOr<Multiplier> input = QuantizeMultiplier(factors.input);
  if (!input.ok()) return input.status();
  const absl::StatusOr<Multiplier> recurrent =
      QuantizeMultiplier(factors.recurrent);
  if (!recurrent.ok()) return recurrent.status();
  std::vector<int16_t> values;
  for (size_t i = gate * units; i < (gate + 1) * units; ++i) {
    const int32_t own =
        To16(Requantize(sums.input[i], *input, Rounding::kDouble));
    values.push_back(static_cast<int16_t>(
        To16(int64_t{own} +
             Requantize(sums.recurrent[i], *recurrent, Rounding::kDouble))));
  }
  return values;
}

}  // namespace

int16_t Logistic16(int16_t a) {
  if (a == 0) return 1 << 14;
  const int32_t positive = TimesPot(TwoOver(Exponential(a < 0 ? a : -a, 3)), 1);
  return static_cast<int16_t>(a > 0 ? positive : kMax16 - positive);
}

int16_t Tanh16(int16_t a, int integer_bits) {
  if (a == 0) return 0;
  const int32_t e = Exponential(a < 0 ? a : -a, integer_bits + 1);
  const int32_t positive = TimesPot(TwoOver(e) - (1 << 13), 2);
  return static_cast<int16_t>(a < 0 ? -positive : positive);
}

absl::StatusOr<std::vector<int16_t>> LstmCells(
    const LstmSums& sums, const std::array<GateFactors, 3>& factors,
    const std::vector<int16_t>& before, int exponent, int clip) {
  std::vector<int16_t> gates[3];
  for (int gate = 0; gate < 3; ++gate) {
    absl::StatusOr<std::vector<int16_t>> values =
        GateSums(sums, gate, factors[gate], before.size());
    if (!values.ok()) return values.status();
    gates[gate] = *std::move(values);
  }
  const int bound = clip > 0 ? clip : -kMin16;
  std::vector<int16_t> cells;
  for (size_t i = 0; i < before.size(); ++i) {
    const int32_t kept =
        RoundingDivideByPot(Logistic16(gates[1][i]) * before[i], 15);
    const int32_t added = RoundingDivideByPot(
        Logistic16(gates[0][i]) * Tanh16(gates[2][i], 3), 30 + exponent);
    cells.push_back(static_cast<int16_t>(
        std::clamp(To16(int64_t{kept} + added), -bound, bound)));
  }
  return cells;
}

absl::StatusOr<std::vector<int8_t>> LstmResults(
    const LstmSums& sums, const GateFactors& factors,
    const std::vector<int16_t>& cells, int exponent, float hidden_scale,
    int hidden_zero_point) {
  const absl::StatusOr<std::vector<int16_t>> gate =
      GateSums(sums, 3, factors, cells.size());
  if (!gate.ok()) return gate.status();
  const double two_15 = 32768.0;
  const auto real = static_cast<float>(1 / two_15 / hidden_scale / two_15);
  const absl::StatusOr<Multiplier> hidden = QuantizeMultiplier(real);
  if (!hidden.ok()) return hidden.status();
  std::vector<int8_t> results;
  for (size_t i = 0; i < cells.size(); ++i) {
    const int32_t product =
        Logistic16((*gate)[i]) * Tanh16(cells[i], 15 + exponent);
    const int64_t value =
        int64_t{Requantize(product, *hidden, Rounding::kDouble)} +
        hidden_zero_point;
    results.push_back(
        static_cast<int8_t>(std::clamp<int64_t>(value, -128, 127)));
  }
  return results;
}

}  // namespace systole::golden
