// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What a program says when it is ended by a sanitizer, or by a signal of its
// own making: a fuzz test names the mutation.
#ifndef SYSTOLE_TESTS_TESTING_DEATH_H_
#define SYSTOLE_TESTS_TESTING_DEATH_H_

#include <csignal>

// Of the sanitizers' run-time library, where the program has it.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(
    void (*callback)());

namespace systole::testing_options {

inline void (*g_on_death)() = nullptr;

// Calls it once, before the program dies as it would have.
inline void OnDeath(void (*callback)()) {
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(callback);
    return;
  }
  g_on_death = callback;
  for (const int number : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV}) {
    std::signal(number, [](int signal) {
      std::signal(signal, SIG_DFL);
      g_on_death();
      std::raise(signal);
    });
  }
}

}  // namespace systole::testing_options

#endif  // SYSTOLE_TESTS_TESTING_DEATH_H_
