// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/sum_chains.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "systole/gen/isa.h"

namespace systole::compiler {

std::vector<int> SumChains(const std::vector<Step>& steps) {
  std::vector<int> chain(steps.size(), -1);
  std::unordered_map<uint32_t, int> latest;  // by the first accumulator
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].queue() != isa::Queue::kMxu) continue;
    const isa::Matmul op = isa::Matmul::Decode(steps[i].descriptor);
    const auto [before, added] = latest.emplace(op.acc, static_cast<int>(i));
    if (!added && (op.header.flags & isa::Matmul::kAccumulate) != 0)
      chain[i] = before->second;
    before->second = static_cast<int>(i);
  }
  return chain;
}

}  // namespace systole::compiler
