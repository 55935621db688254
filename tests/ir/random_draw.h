// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random numbers, scales and values for modules.
#ifndef SYSTOLE_TESTS_IR_RANDOM_DRAW_H_
#define SYSTOLE_TESTS_IR_RANDOM_DRAW_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "host/ir/attributes.h"
#include "host/ir/type.h"
#include "tests/testing/choices.h"

namespace systole::ir {

class RandomDraw {
 public:
  explicit RandomDraw(uint64_t seed) : random_(seed * 2654435761u + 1) {}

  // Both ends included.
  int64_t Between(int64_t low, int64_t high) {
    const int64_t drawn =
        std::uniform_int_distribution<int64_t>(low, high)(random_);
    return low + static_cast<int64_t>(
                     testing_options::Decide(drawn - low, high - low + 1));
  }
  bool Chance(int of) { return Between(1, of) == 1; }
  float Scale(double low = 0.02, double high = 0.2) {
    return static_cast<float>(std::exp(std::uniform_real_distribution<double>(
        std::log(low), std::log(high))(random_)));
  }
  Quantization Affine(float scale) {
    return {{std::clamp(scale, 0.001f, 4.0f)},
            static_cast<int32_t>(Between(-128, 127)),
            0};
  }
  Type Int8(const Ints& shape, const Quantization& q) {
    return {ElementType::kInt8, shape, q};
  }
  Literal Bytes(int64_t count) {
    std::vector<int8_t> values(count);
    for (int8_t& v : values) {
      v = static_cast<int8_t>(
          std::uniform_int_distribution<int64_t>(-127, 127)(random_));
    }
    return Literal(std::move(values));
  }

  Ints Clamp() {
    if (!Chance(3)) return {-128, 127};
    const int64_t low = Between(-128, 20);
    return {low, Between(std::max<int64_t>(low, 30), 127)};
  }

 protected:
  std::mt19937_64 random_;
};

}  // namespace systole::ir

#endif  // SYSTOLE_TESTS_IR_RANDOM_DRAW_H_
