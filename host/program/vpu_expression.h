// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Registers, names and expressions in the text of vector programs
// (docs/vpu.md, "Text").
#ifndef SYSTOLE_HOST_PROGRAM_VPU_EXPRESSION_H_
#define SYSTOLE_HOST_PROGRAM_VPU_EXPRESSION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

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
  // Of a run, by index: in declarations, whose numbers are whole.
  std::map<std::string, int> arguments;
  bool whole = false;

  bool Has(const std::string& name) const {
    return constants.count(name) || registers.count(name) || labels.count(name);
  }
};

// + - * / % (of whole numbers, towards zero), unary -, min(a, b), max(a, b)
// and parentheses over literals, constants, labels and arguments. A literal is
// decimal, 0x hexadecimal, or fp32 (its bits) when it has a point or an
// exponent.
class Expression {
 public:
  // Errors: InvalidArgument.
  static absl::StatusOr<Expression> Parse(absl::string_view text,
                                          const Names& names);

  // Errors, InvalidArgument: a division by 0, a value whose magnitude does not
  // fit in 32 bits, an argument that is not there.
  absl::StatusOr<int64_t> Of(absl::Span<const int64_t> arguments) const;

 private:
  friend class ExpressionParser;
  enum class Op {
    kNumber,    // value
    kArgument,  // value: its index
    kNegate,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kRemainder,
    kMin,
    kMax
  };
  struct Step {
    Op op;
    int64_t value;
  };
  std::vector<Step> steps_;  // operands before operators
};

// The value of a text without arguments. "" or what is wrong.
std::string ParseExpression(absl::string_view text, const Names& names,
                            int64_t* value);

// Cut where `separator` is outside all parentheses.
std::vector<absl::string_view> SplitOutsideParentheses(
    absl::string_view text, absl::string_view separator);

}  // namespace systole::vpu

#endif  // SYSTOLE_HOST_PROGRAM_VPU_EXPRESSION_H_
