// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "verif/golden/ops.h"

namespace systole::golden {
namespace {

constexpr int kAddLeftShift = 20;

int8_t ToOutput(int32_t value, const OutputRange& range) {
  return static_cast<int8_t>(std::clamp<int64_t>(
      int64_t{value} + range.zero_point, range.clamp_min, range.clamp_max));
}

}  // namespace

absl::Status AddBias(absl::Span<const int32_t> bias, TensorI32& acc,
                     bool& saturated) {
  if (static_cast<int>(bias.size()) != acc.c()) {
    return absl::InvalidArgumentError(absl::StrCat(
        bias.size(), " biases for a tensor of ", acc.c(), " channels"));
  }
  for (size_t i = 0; i < acc.data().size(); ++i) {
    int32_t& value = acc.data()[i];
    value = AddSaturating(value, bias[i % bias.size()], saturated);
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorI8> RequantizeChannels(
    const TensorI32& acc, absl::Span<const Multiplier> multipliers,
    Rounding rounding, const OutputRange& range) {
  if (static_cast<int>(multipliers.size()) != acc.c()) {
    return absl::InvalidArgumentError(
        absl::StrCat(multipliers.size(), " multipliers for a tensor of ",
                     acc.c(), " channels"));
  }
  TensorI8 output(acc.n(), acc.h(), acc.w(), acc.c());
  for (size_t i = 0; i < acc.data().size(); ++i) {
    const Multiplier& m = multipliers[i % multipliers.size()];
    output.data()[i] = ToOutput(Requantize(acc.data()[i], m, rounding), range);
  }
  return output;
}

absl::StatusOr<TensorI8> Add(const TensorI8& a, const TensorI8& b,
                             const AddParameters& parameters, Rounding rounding,
                             const OutputRange& range) {
  const bool repeated = b.h() == 1 && b.w() == 1;
  if (a.n() != b.n() || a.c() != b.c() ||
      (!repeated && (a.h() != b.h() || a.w() != b.w()))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "add of ", a.shape(), " and ", b.shape(), ": shapes differ"));
  }
  TensorI8 output(a.n(), a.h(), a.w(), a.c());
  const size_t image = a.data().size() / a.n();
  for (size_t i = 0; i < a.data().size(); ++i) {
    const size_t other =
        repeated ? i / image * a.c() + i % static_cast<size_t>(a.c()) : i;
    const int32_t a1 =
        (a.data()[i] - parameters.zero_point_a) * (1 << kAddLeftShift);
    const int32_t b1 =
        (b.data()[other] - parameters.zero_point_b) * (1 << kAddLeftShift);
    const int64_t total = int64_t{Requantize(a1, parameters.a, rounding)} +
                          Requantize(b1, parameters.b, rounding);
    output.data()[i] = ToOutput(
        Requantize(Saturate32(total), parameters.output, rounding), range);
  }
  return output;
}

absl::StatusOr<TensorI8> MulChannels(const TensorI8& a, int zero_point_a,
                                     const TensorI8& b, int zero_point_b,
                                     Multiplier multiplier, Rounding rounding,
                                     const OutputRange& range) {
  const bool repeated = b.h() == 1 && b.w() == 1;
  if (a.n() != b.n() || a.c() != b.c() ||
      (!repeated && (a.h() != b.h() || a.w() != b.w()))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "product of ", a.shape(), " and ", b.shape(), ": shapes differ"));
  }
  TensorI8 output(a.n(), a.h(), a.w(), a.c());
  for (int n = 0; n < a.n(); ++n) {
    for (int y = 0; y < a.h(); ++y) {
      for (int x = 0; x < a.w(); ++x) {
        for (int c = 0; c < a.c(); ++c) {
          const int left = a.at(n, y, x, c) - zero_point_a;
          const int right =
              b.at(n, repeated ? 0 : y, repeated ? 0 : x, c) - zero_point_b;
          output.at(n, y, x, c) =
              ToOutput(Requantize(left * right, multiplier, rounding), range);
        }
      }
    }
  }
  return output;
}

absl::StatusOr<std::array<Multiplier, 3>> AddMultipliers(double scale_a,
                                                         double scale_b,
                                                         double scale_output) {
  const double twice_max = 2 * std::max(scale_a, scale_b);
  const double real[3] = {scale_a / twice_max, scale_b / twice_max,
                          twice_max / ((1 << kAddLeftShift) * scale_output)};
  std::array<Multiplier, 3> multipliers;
  for (size_t i = 0; i < multipliers.size(); ++i) {
    absl::StatusOr<Multiplier> m = QuantizeMultiplier(real[i]);
    if (!m.ok()) return m.status();
    if (m->shift > 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("add of scales ", scale_a, " and ", scale_b, " to ",
                       scale_output, ": a factor is above 1"));
    }
    multipliers[i] = *m;
  }
  return multipliers;
}

}  // namespace systole::golden
