// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Texts of modules over lines of columns.
#ifndef SYSTOLE_TESTS_LANES_MODULE_TEXT_H_
#define SYSTOLE_TESTS_LANES_MODULE_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace systole::lanes {

// The region of a reduction: `op` of two numbers.
inline std::string Region(const std::string& type, const std::string& op) {
  return absl::StrFormat(R"({
    %%p = %1$s[] parameter()
    %%q = %1$s[] parameter()
    %%t = %1$s[] hlo.%2$s(%%p, %%q)
    return %%t
  })",
                         type, op);
}

// The body with [A,B] for lines and columns, [A] and [B] for one of them, and
// the regions COUNT (i32), SUM and LARGEST (f32).
inline std::string ModuleText(const std::string& body, int64_t lines,
                              int64_t columns) {
  return absl::StrReplaceAll(
      absl::StrCat("module @m {\n", body, "}\n"),
      {{"[A,B]", absl::StrFormat("[%d,%d]", lines, columns)},
       {"[A]", absl::StrFormat("[%d]", lines)},
       {"[B]", absl::StrFormat("[%d]", columns)},
       {"COUNT", Region("i32", "add")},
       {"SUM", Region("f32", "add")},
       {"LARGEST", Region("f32", "maximum")}});
}

}  // namespace systole::lanes

#endif  // SYSTOLE_TESTS_LANES_MODULE_TEXT_H_
