// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/views/print.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace systole::views {

thread_local std::string* printed = nullptr;

}  // namespace systole::views

extern "C" int systole_print(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = 0;
  if (systole::views::printed == nullptr) {
    length = std::vprintf(format, arguments);
  } else {
    char* text = nullptr;
    length = vasprintf(&text, format, arguments);
    if (length > 0) systole::views::printed->append(text, length);
    std::free(text);
  }
  va_end(arguments);
  return length;
}
