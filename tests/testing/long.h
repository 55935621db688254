// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Tests with two sizes: as `make test` runs them, and with SYSTOLE_LONG=1 as
// `make test-long` does.
#ifndef SYSTOLE_TESTS_TESTING_LONG_H_
#define SYSTOLE_TESTS_TESTING_LONG_H_

#include <cstdlib>

namespace systole::testing_options {

inline bool Long() {
  static const bool on = [] {
    const char* const value = std::getenv("SYSTOLE_LONG");
    return value != nullptr && value[0] != '\0' && value[0] != '0';
  }();
  return on;
}

template <typename T>
T Sized(T usual, T in_long_form) {
  return Long() ? in_long_form : usual;
}

}  // namespace systole::testing_options

#endif  // SYSTOLE_TESTS_TESTING_LONG_H_
