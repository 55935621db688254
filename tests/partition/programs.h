// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs of one operation or a few, of each kind that has a rule of its own.
#ifndef SYSTOLE_TESTS_PARTITION_PROGRAMS_H_
#define SYSTOLE_TESTS_PARTITION_PROGRAMS_H_

#include <memory>
#include <string>
#include <vector>

#include "host/partition/partitioner.h"

namespace systole::partition {

struct TestProgram {
  std::string name;
  // Statements; the last one defines %y. REGION(op) is a region of f32.
  std::string text;
};

const std::vector<TestProgram>& TestPrograms();
std::string TextOf(const TestProgram& program);

// The module of a text, which fails the test if it is not valid.
std::unique_ptr<ir::Module> ModuleOf(const std::string& text);
// Without shardings.
GlobalProgram ProgramOf(const std::string& text, int devices);

}  // namespace systole::partition

#endif  // SYSTOLE_TESTS_PARTITION_PROGRAMS_H_
