// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Random operations and small networks for a preset, from a seed: shapes,
// strides, paddings, dilations, zero points, values at the ends of their
// ranges, and a unified buffer that is pretended to be small, so that all kinds
// of tiling occur. A case prints as one line.
#ifndef TESTS_COMPILER_RANDOM_CASE_H_
#define TESTS_COMPILER_RANDOM_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "systole/compiler.h"
#include "systole/model.h"

namespace systole {

struct RandomCase {
  std::string description;
  model::Network network;
  bool raw = false;  // a matrix product with int32 output
  compiler::MatmulSpec matmul;
  compiler::Options options;
  std::vector<int8_t> input;
};

// Aims at about `work` products. `kind` chooses what is made: matmul, conv,
// dense, pool, add, mul, mean, excite, network; empty: the seed does. Shapes
// and operations are choices (tests/testing/choices.h), values are not.
RandomCase MakeRandomCase(uint64_t seed, const Preset& preset, int64_t work,
                          const std::string& kind = "");

// Other numbers for the flags of a program, which changes nothing that it does.
void ShuffleFlags(uint64_t seed, Program* program);

absl::StatusOr<Program> CompileCase(const RandomCase& c, const Preset& preset);

}  // namespace systole

#endif  // TESTS_COMPILER_RANDOM_CASE_H_
