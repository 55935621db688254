// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Small legal modules and inputs for them, chosen by a seed.
#ifndef SYSTOLE_TESTS_IR_RANDOM_MODULE_H_
#define SYSTOLE_TESTS_IR_RANDOM_MODULE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "host/ir/module.h"

namespace systole::ir {

struct RandomModuleOptions {
  int operations = 7;          // tries that fit; fewer may remain
  int64_t max_elements = 800;  // of a value
  int max_channels = 9;        // of weighted operations
  bool one_image = false;      // inputs have one image
  int inputs = 1;              // of one shape; others may come
  // Only these; all when empty.
  std::vector<Op> operators;
};

// A verified module. Scales are such that values neither vanish nor saturate
// everywhere.
std::unique_ptr<Module> RandomModule(uint64_t seed,
                                     const RandomModuleOptions& options = {});

// Whether they have the operation: not those of floats and plain integers, and
// the steps of an LSTM, which recurrent_test.cc draws.
bool DrawsOp(Op op);

// Values of its inputs, the extremes more often than by chance.
std::vector<Literal> RandomInputs(const Module& module, uint64_t seed);

}  // namespace systole::ir

#endif  // SYSTOLE_TESTS_IR_RANDOM_MODULE_H_
