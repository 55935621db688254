// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs of one operation or a few, of each kind that has a rule of its own.
#ifndef SYSTOLE_TESTS_PARTITION_PROGRAMS_H_
#define SYSTOLE_TESTS_PARTITION_PROGRAMS_H_

#include <string>
#include <vector>

namespace systole::partition {

struct TestProgram {
  std::string name;
  // Statements; the last one defines %y. REGION(op) is a region of f32.
  std::string text;
};

const std::vector<TestProgram>& TestPrograms();
std::string TextOf(const TestProgram& program);

}  // namespace systole::partition

#endif  // SYSTOLE_TESTS_PARTITION_PROGRAMS_H_
