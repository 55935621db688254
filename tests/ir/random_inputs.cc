// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include <random>
#include <utility>

#include "tests/ir/random_module.h"

namespace systole::ir {

std::vector<Literal> RandomInputs(const Module& module, uint64_t seed) {
  std::mt19937_64 random(seed + 12345);
  std::vector<Literal> inputs;
  for (const Node* input : module.inputs()) {
    std::vector<int8_t> values(input->type.elements());
    for (int8_t& value : values) {
      value = static_cast<int8_t>(random());
      if (random() % 10 == 0) value = random() % 2 ? 127 : -128;
    }
    inputs.emplace_back(std::move(values));
  }
  return inputs;
}

}  // namespace systole::ir
