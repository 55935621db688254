// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The main function of a test program with options of its own behind
// GoogleTest's:
//
//   int main(int argc, char** argv) {
//     return systole::testing_options::RunTests(
//         argc, argv, {{"backend", &g_backend}, {"preset", &g_preset}});
//   }
#ifndef SYSTOLE_TESTS_TESTING_OPTIONS_H_
#define SYSTOLE_TESTS_TESTING_OPTIONS_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <variant>

namespace systole::testing_options {

struct Option {
  const char* name;  // given as --name=value
  std::variant<std::string*, int*, uint64_t*, bool*> value;
};

// Runs the tests; 2 on an unknown option or a wrong value. All have --seed and
// --cases (seeds.h).
int RunTests(int argc, char** argv, std::initializer_list<Option> options);

}  // namespace systole::testing_options

#endif  // SYSTOLE_TESTS_TESTING_OPTIONS_H_
