// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Redirects the output of this thread's models (messages of failed assertions)
// from stdout to a text of the test bench:
//
//   std::string text;
//   views::printed = &text;
//   model.eval();
//   views::printed = nullptr;

#ifndef SYSTOLE_VERIF_VIEWS_PRINT_H_
#define SYSTOLE_VERIF_VIEWS_PRINT_H_

#include <string>

namespace systole::views {

extern thread_local std::string* printed;

}  // namespace systole::views

// Verilator's library calls this instead of printf.
extern "C" int systole_print(const char* format, ...)
    __attribute__((format(printf, 1, 2)));

#endif  // SYSTOLE_VERIF_VIEWS_PRINT_H_
