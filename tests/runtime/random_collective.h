// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs of several processes for tests.
#ifndef SYSTOLE_TESTS_RUNTIME_RANDOM_COLLECTIVE_H_
#define SYSTOLE_TESTS_RUNTIME_RANDOM_COLLECTIVE_H_

#include <memory>
#include <random>
#include <string>

#include "host/ir/hlo/process_groups.h"
#include "host/ir/module.h"

namespace systole::runtime {

// A verified module of these statements, in which ADD stands for a region that
// adds two f32, MAX for one that takes the larger; null if it is none.
std::unique_ptr<ir::Module> Module(const std::string& statements,
                                   const std::string& results = "%y as \"y\"");

// Values of all sizes, some of them special.
ir::Literal Random(std::mt19937_64& rng, const ir::Type& type);

// One collective of a random kind, group, type and shape, between operations
// that run on the device. `unit`: the last dimension is a multiple of it.
std::unique_ptr<ir::Module> RandomProgram(std::mt19937_64& rng,
                                          ir::ProcessGrid grid, int unit = 1);

}  // namespace systole::runtime

#endif  // SYSTOLE_TESTS_RUNTIME_RANDOM_COLLECTIVE_H_
