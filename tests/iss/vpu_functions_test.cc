// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The simulator's functions against the golden model's: docs/numerics.md,
// written down twice.

#include "sim/iss/vpu_functions.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "verif/golden/functions.h"

namespace systole::iss {
namespace {

struct Pair {
  const char* name;
  uint32_t (*simulator)(uint32_t);
  uint32_t (*golden)(uint32_t);
};
constexpr Pair kPairs[] = {
    {"exp2", Exp2, golden::Exp2},
    {"log2", Log2, golden::Log2},
    {"rcp", Reciprocal, golden::Reciprocal},
    {"rsqrt", ReciprocalSquareRoot, golden::ReciprocalSqrt},
    {"tanh", Tanh, golden::Tanh},
};

// Every sign and exponent with fractions where segments begin and end, the
// neighbours of those, and random ones.
TEST(VpuFunctions, AgreeWithTheGoldenModel) {
  std::mt19937 random(5);
  std::vector<uint32_t> fractions;
  for (uint32_t k = 0; k < 256; ++k) {
    for (uint32_t near : {0u, 1u, 0x7FFFu}) fractions.push_back(k << 15 | near);
  }
  for (int i = 0; i < 3000; ++i) fractions.push_back(random() & 0x7FFFFF);
  for (const Pair& p : kPairs) {
    for (uint32_t top = 0; top < 512; ++top) {
      for (uint32_t fraction : fractions) {
        const uint32_t a = top << 23 | fraction;
        ASSERT_EQ(p.simulator(a), p.golden(a))
            << p.name << " of 0x" << std::hex << a;
      }
    }
  }
}

}  // namespace
}  // namespace systole::iss
