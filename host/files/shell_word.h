// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Words of a command that is printed to be typed again.
#ifndef SYSTOLE_HOST_FILES_SHELL_WORD_H_
#define SYSTOLE_HOST_FILES_SHELL_WORD_H_

#include <string>
#include <string_view>

namespace systole {

// The word as a shell reads it back: in quotes where it has signs that a shell
// takes for something else, or none at all.
std::string ShellWord(std::string_view word);

}  // namespace systole

#endif  // SYSTOLE_HOST_FILES_SHELL_WORD_H_
