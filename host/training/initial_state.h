// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The weights that training starts from (docs/training.md, "Initial state").
#ifndef SYSTOLE_HOST_TRAINING_INITIAL_STATE_H_
#define SYSTOLE_HOST_TRAINING_INITIAL_STATE_H_

#include <cmath>
#include <cstdint>
#include <vector>

namespace systole::training {

// The hash of the vector unit's `rnd` (docs/vpu.md).
inline uint32_t Mix(uint32_t x) {
  x = (x ^ x >> 16) * 0x7FEB352D;
  x = (x ^ x >> 15) * 0x846CA68B;
  return x ^ x >> 16;
}

// He-uniform: `count` weights of a layer with `fan_in` inputs, whose first one
// is the `first`-th weight of the network.
inline std::vector<float> InitialWeights(uint32_t seed, uint32_t first,
                                         int64_t fan_in, int64_t count) {
  const auto limit = static_cast<float>(std::sqrt(6.0 / fan_in));
  std::vector<float> weights(count);
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t random =
        Mix(Mix(first + static_cast<uint32_t>(i)) ^ seed) >> 8;
    const int32_t steps = static_cast<int32_t>(random) - (1 << 23);
    weights[i] = limit * std::ldexp(static_cast<float>(steps), -23);
  }
  return weights;
}

}  // namespace systole::training

#endif  // SYSTOLE_HOST_TRAINING_INITIAL_STATE_H_
