// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Parses Verilator's message about a failed assertion:
// "[0] %Error: FILE:LINE: Assertion failed in PATH.LABEL: WHAT".

#ifndef SYSTOLE_VERIF_TB_FAILED_ASSERTION_H_
#define SYSTOLE_VERIF_TB_FAILED_ASSERTION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "verif/tb/core_model.h"

namespace systole::tb {

// Parses the first line of `text`. A line of another form is kept unchanged.
inline FailedAssertion ParseFailedAssertion(const std::string& text,
                                            uint64_t cycle) {
  const std::string first = text.substr(0, text.find('\n'));
  const std::string_view marks[] = {"%Error: ", " in ", ": "};
  FailedAssertion f{first, "", cycle};
  const size_t at = first.find(marks[0]), in = first.find(marks[1]);
  if (at == std::string::npos || in == std::string::npos) return f;
  const size_t path = in + marks[1].size();
  const size_t end = first.find(marks[2], path);
  f.path = first.substr(path, end - path);
  f.what = first.substr(at + marks[0].size(), in - at - marks[0].size());
  const size_t label = f.path.rfind('.');
  if (end == std::string::npos || label == std::string::npos) return f;
  const std::string cause = first.substr(end + marks[2].size());
  if (f.path.compare(label + 1, 2, "a_") == 0) {
    absl::StrAppend(&f.what, ": ", f.path.substr(label + 1));
    f.path.resize(label);
  } else {
    absl::StrAppend(&f.what, ": ", cause);
  }
  return f;
}

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_FAILED_ASSERTION_H_
