// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What random int8 layers are drawn from: choices, which make a case smaller
// when it fails (tests/testing/choices.h), and values, which do not.
#ifndef SYSTOLE_TESTS_COMPILER_RANDOM_DRAWS_H_
#define SYSTOLE_TESTS_COMPILER_RANDOM_DRAWS_H_

#include <cstdint>
#include <random>
#include <vector>

#include "host/tools/workload.h"
#include "systole/model.h"
#include "tests/testing/choices.h"

namespace systole {

class RandomDraws {
 public:
  explicit RandomDraws(uint64_t seed) : rng_(seed) {}

 protected:
  int Draw(int low, int high) {
    return low + static_cast<int>(rng_() % (high - low + 1));
  }
  int Pick(int low, int high) {
    return low + static_cast<int>(testing_options::Choose(
                     high - low + 1, [this] { return rng_(); }));
  }
  bool Chance(int one_in) { return Pick(1, one_in) == 1; }

  int ZeroPoint() {
    switch (Pick(0, 5)) {
      case 0:
        return -128;
      case 1:
        return 127;
      case 2:
        return 0;
      default:
        return Pick(-128, 127);
    }
  }

  std::vector<int8_t> Values(int64_t count) {
    std::vector<int8_t> values = tools::RandomInt8(count, rng_);
    const int mode = Pick(0, 7);
    for (int8_t& v : values) {
      if (mode == 0) v = -128;
      if (mode == 1) v = 127;
      if (mode == 2) v = (v & 1) ? 127 : -128;
      if (mode == 3) v = static_cast<int8_t>(v % 3);
    }
    return values;
  }

  model::Requant Factor(int64_t terms) {
    model::Requant r = tools::SpreadingRequant(terms, rng_);
    switch (Draw(0, 15)) {
      case 0:
        return {};
      case 1:
        return {1 << 30, r.shift};
      case 2:
        return {2147483647, r.shift};
      case 3:
        return {r.multiplier, -31};
      case 4:
        return {r.multiplier, static_cast<int8_t>(Draw(-31, 30))};
      default:
        return r;
    }
  }

  int32_t Bias() {
    switch (Draw(0, 9)) {
      case 0:
        return 1 << 29;
      case 1:
        return -(1 << 29);
      case 2:
        return 0;
      default:
        return Draw(-20000, 20000);
    }
  }

  void Clamp(model::Layer& layer) {
    layer.clamp_min = Chance(3) ? Pick(-128, 0) : -128;
    layer.clamp_max = Chance(3) ? Pick(layer.clamp_min, 127) : 127;
    layer.rounding =
        Chance(4) ? model::Rounding::kSingle : model::Rounding::kDouble;
  }

  std::mt19937_64 rng_;
};

}  // namespace systole

#endif  // SYSTOLE_TESTS_COMPILER_RANDOM_DRAWS_H_
