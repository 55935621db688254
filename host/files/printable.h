// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Names from files, as a terminal shows them.
#ifndef SYSTOLE_HOST_FILES_PRINTABLE_H_
#define SYSTOLE_HOST_FILES_PRINTABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace systole {

// The text with an escape ("\\n", "\\x1b", "\\u202e") in place of each control
// character, of each character that turns the direction of writing and of each
// byte that is not UTF-8. The result is valid UTF-8 of one line.
std::string Printable(std::string_view text);

// The same, but lines stay lines.
std::string PrintableLines(std::string_view text);

// The texts, each printable on a line of its own, behind a line's end:
// "\n  first\n  second".
std::string PrintableList(const std::vector<std::string>& texts);

// "1 image", "2 images", "2 mismatches".
std::string Counted(int64_t count, std::string_view noun);

// Columns that a printable text takes on a terminal: its characters.
size_t Columns(std::string_view text);

}  // namespace systole

#endif  // SYSTOLE_HOST_FILES_PRINTABLE_H_
