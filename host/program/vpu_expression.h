// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Registers, names and expressions in the text of vector programs.
#ifndef SYSTOLE_HOST_PROGRAM_VPU_EXPRESSION_H_
#define SYSTOLE_HOST_PROGRAM_VPU_EXPRESSION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace systole::vpu {

struct Register {
  bool is_vector;
  int number;
};

// "s3", "v17"; nothing for any other text.
std::optional<Register> ParseRegister(absl::string_view s);

// Names of one text and what they stand for.
struct Names {
  std::map<std::string, int64_t> constants;
  std::map<std::string, Register> registers;
  std::map<std::string, int> labels;

  bool Has(const std::string& name) const {
    return constants.count(name) || registers.count(name) || labels.count(name);
  }
};

// + - * / and parentheses over literals, constants and labels. A literal is
// decimal, 0x hexadecimal, or fp32 (its bits) when it has a point or an
// exponent. "" or what is wrong.
std::string ParseExpression(absl::string_view text, const Names& names,
                            int64_t* value);

}  // namespace systole::vpu

#endif  // SYSTOLE_HOST_PROGRAM_VPU_EXPRESSION_H_
