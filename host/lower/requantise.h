// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Fixed-point factors of layers, computed from the scales of their tensors.
#ifndef SYSTOLE_HOST_LOWER_REQUANTISE_H_
#define SYSTOLE_HOST_LOWER_REQUANTISE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/module.h"
#include "systole/model.h"

namespace systole::lower {

// `quantise_multiplier` of docs/numerics.md. Errors: InvalidArgument for
// factors that are negative, not finite or too large.
absl::StatusOr<model::Requant> QuantiseMultiplier(double factor);

// The vector unit's result for an accumulator, before the zero point is added.
int32_t Requantise(int32_t value, model::Requant requant,
                   model::Rounding rounding);

// A channel whose outputs are round_half_away(sum * factor) + zero_point,
// clamped.
struct DenseChannel {
  double factor = 0;
  int64_t low = 0, high = 0;  // range of the sums, including the bias
};
struct OutputRange {
  int zero_point = 0;
  int clamp_min = -128;
  int clamp_max = 127;
};

// Fixed-point factors that give exactly the outputs of double precision, for
// every sum of every channel, and the rounding that they need. Both outputs are
// staircases in the sum, so the proof compares the positions of all steps.
// Errors: Unimplemented if there are no such factors; the message names the
// channel.
struct DenseRequant {
  std::vector<model::Requant> channels;
  model::Rounding rounding = model::Rounding::kSingle;
};
absl::StatusOr<DenseRequant> ExactDenseRequant(
    const std::vector<DenseChannel>& channels, const OutputRange& range);

// The same for one sum in low..high whose outputs, above the zero point, must
// be `wanted`: close to sum * factor and increasing with the sum. For double
// rounding. Unimplemented: there is no such factor.
absl::StatusOr<model::Requant> ExactSumRequant(
    const DenseChannel& sum, const OutputRange& range,
    const std::function<int64_t(int64_t sum)>& wanted);

// Factors of a mean and of a sum of `count` values. The reference computes the
// factor of a sum in single precision.
absl::StatusOr<model::Requant> RequantOfMean(const ir::Node& node,
                                             int64_t count);
absl::StatusOr<model::Requant> RequantOfSum(const ir::Node& node,
                                            int64_t count);

}  // namespace systole::lower

#endif  // SYSTOLE_HOST_LOWER_REQUANTISE_H_
