// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/lower/requantise.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/ir/quant/fixed_point.h"

namespace systole::lower {
namespace {

// Maximum distance of the multiplier from the nearest one, for a factor in
// double and in single precision.
constexpr int kMaxNudge = 8;
constexpr int kMaxSumNudge = 512;
constexpr int64_t kNormal = int64_t{1} << 30;

// As in the reference kernels; results beyond int8 are clamped anyway.
int64_t RealOutput(int64_t sum, double factor, const OutputRange& range) {
  const double rounded = std::round(static_cast<double>(sum) * factor);
  return std::clamp<int64_t>(
      static_cast<int64_t>(std::clamp(rounded, -1e9, 1e9)) + range.zero_point,
      range.clamp_min, range.clamp_max);
}

int64_t FixedOutput(int64_t sum, model::Requant requant,
                    model::Rounding rounding, const OutputRange& range) {
  return std::clamp<int64_t>(
      int64_t{Requantise(static_cast<int32_t>(sum), requant, rounding)} +
          range.zero_point,
      range.clamp_min, range.clamp_max);
}

// The required output for a sum; increases with the sum.
using Wanted = std::function<int64_t(int64_t sum)>;

// The smallest sum in low..high + 1 whose wanted output is at least `output`.
int64_t StepOf(int64_t output, const DenseChannel& c, const OutputRange& range,
               const Wanted& wanted) {
  const auto reached = [&](int64_t sum) { return wanted(sum) >= output; };
  const double guess =
      (static_cast<double>(output - range.zero_point) - 0.5) / c.factor;
  int64_t step = static_cast<int64_t>(
      std::clamp(std::ceil(guess), static_cast<double>(c.low),
                 static_cast<double>(c.high) + 1));
  while (step > c.low && reached(step - 1)) --step;
  while (step <= c.high && !reached(step)) ++step;
  return step;
}

// All steps of the staircase in low..high.
std::vector<std::pair<int64_t, int64_t>> StepsOf(const DenseChannel& c,
                                                 const OutputRange& range,
                                                 const Wanted& wanted) {
  std::vector<std::pair<int64_t, int64_t>> steps;  // output, sum
  const int64_t first = wanted(c.low), last = wanted(c.high);
  for (int64_t output = first + 1; output <= last; ++output) {
    steps.emplace_back(output, StepOf(output, c, range, wanted));
  }
  return steps;
}

// Both staircases are monotonic. So they are equal if they start and end at the
// same height and have every step at the same position.
bool SameStaircase(const DenseChannel& c, const OutputRange& range,
                   const Wanted& wanted,
                   const std::vector<std::pair<int64_t, int64_t>>& steps,
                   model::Requant requant, model::Rounding rounding) {
  const auto fixed = [&](int64_t sum) {
    return FixedOutput(sum, requant, rounding, range);
  };
  if (fixed(c.low) != wanted(c.low) || fixed(c.high) != wanted(c.high)) {
    return false;
  }
  return std::all_of(steps.begin(), steps.end(), [&](const auto& step) {
    return fixed(step.second) >= step.first &&
           fixed(step.second - 1) < step.first;
  });
}

// Searches multipliers that are at most `most` away from `nearest` and at least
// `least`.
std::optional<model::Requant> ExactRequant(
    const DenseChannel& c, const OutputRange& range, const Wanted& wanted,
    model::Rounding rounding, model::Requant nearest, int most, int64_t least) {
  const auto steps = StepsOf(c, range, wanted);
  for (int nudge = 0; nudge <= 2 * most; ++nudge) {
    model::Requant candidate = nearest;
    const int64_t m = int64_t{candidate.multiplier} +
                      (nudge % 2 == 1 ? (nudge + 1) / 2 : -nudge / 2);
    const bool legal = m >= least && m < int64_t{1} << 31;
    if (nudge > 0 && !legal) continue;
    candidate.multiplier = static_cast<int32_t>(m);
    if (SameStaircase(c, range, wanted, steps, candidate, rounding))
      return candidate;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<model::Requant> QuantiseMultiplier(double factor) {
  const absl::StatusOr<ir::Factor> found = ir::FactorOf(factor);
  if (!found.ok()) return found.status();
  return model::Requant{found->multiplier, static_cast<int8_t>(found->shift)};
}

int32_t Requantise(int32_t value, model::Requant requant,
                   model::Rounding rounding) {
  if (rounding == model::Rounding::kDouble) {
    return ir::Scale(value, {requant.multiplier, requant.shift});
  }
  const int n = 31 - requant.shift;
  const int64_t product = int64_t{value} * requant.multiplier;
  return ir::Saturate((product + (int64_t{1} << (n - 1))) >> n);
}

absl::StatusOr<DenseRequant> ExactDenseRequant(
    const std::vector<DenseChannel>& channels, const OutputRange& range) {
  int worst = 0;
  for (const model::Rounding rounding :
       {model::Rounding::kSingle, model::Rounding::kDouble}) {
    DenseRequant result;
    result.rounding = rounding;
    for (const DenseChannel& channel : channels) {
      const auto nearest = QuantiseMultiplier(channel.factor);
      if (!nearest.ok()) break;
      const auto requant = ExactRequant(
          channel, range,
          [&](int64_t sum) { return RealOutput(sum, channel.factor, range); },
          rounding, *nearest, kMaxNudge, kNormal);
      if (!requant) break;
      result.channels.push_back(*requant);
    }
    if (result.channels.size() == channels.size()) return result;
    worst = std::max(worst, static_cast<int>(result.channels.size()));
  }
  return absl::UnimplementedError(absl::StrCat(
      "channel ", worst, ": no fixed-point factor rounds as a factor of ",
      channels[worst].factor, " in double precision does"));
}

absl::StatusOr<model::Requant> ExactSumRequant(
    const DenseChannel& sum, const OutputRange& range,
    const std::function<int64_t(int64_t sum)>& wanted) {
  const absl::StatusOr<model::Requant> normal = QuantiseMultiplier(sum.factor);
  if (!normal.ok()) return normal.status();
  // Without a right shift there is no second rounding.
  model::Requant once = *normal;
  if (once.shift < 0) {
    once.multiplier = static_cast<int32_t>(
        (int64_t{once.multiplier} + (int64_t{1} << (-once.shift - 1))) >>
        -once.shift);
    once.shift = 0;
  }
  const auto clamped = [&](int64_t value) {
    return std::clamp<int64_t>(wanted(value) + range.zero_point,
                               range.clamp_min, range.clamp_max);
  };
  for (const model::Requant& nearest : {once, *normal}) {
    const auto requant =
        ExactRequant(sum, range, clamped, model::Rounding::kDouble, nearest,
                     kMaxSumNudge, 0);
    if (requant) return *requant;
  }
  return absl::UnimplementedError(
      absl::StrCat("no fixed-point factor rounds as a factor of ", sum.factor,
                   " in single precision does"));
}

absl::StatusOr<model::Requant> RequantOfMean(const ir::Node& node,
                                             int64_t count) {
  const absl::StatusOr<ir::Factor> factor =
      ir::FactorOf(double{node.operands[0]->quantization().scale()} /
                   node.quantization().scale());
  if (!factor.ok()) return factor.status();
  const ir::Factor mean = ir::MeanFactor(*factor, count);
  return model::Requant{mean.multiplier, static_cast<int8_t>(mean.shift)};
}

absl::StatusOr<model::Requant> RequantOfSum(const ir::Node& node,
                                            int64_t count) {
  const ir::Quantization& from = node.operands[0]->quantization();
  const float to_scale = node.quantization().scale();
  const DenseChannel sum = {double{from.scale()} / to_scale,
                            count * (-128 - int64_t{from.zero_point}),
                            count * (127 - int64_t{from.zero_point})};
  return ExactSumRequant(
      sum, {node.quantization().zero_point}, [&](int64_t centred) {
        return ir::RescaledSum(centred, count, from, to_scale);
      });
}

}  // namespace systole::lower
