// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel's text declares above its label (docs/vpu.md, "Declarations"),
// in terms of its arguments:
//
//   .reads  acc[acc, rows]                    # accumulator rows
//   .writes ub[dst, 2*cols, rows * pitch]     # bytes, runs of them, 3 deep
//   .cycles 30 + rows
//   acc_bf16:
#ifndef HOST_KERNELS_DECLARATION_H_
#define HOST_KERNELS_DECLARATION_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "host/program/vpu_asm.h"

namespace systole::kernels {

// count[2] x count[1] x count[0] runs of `len` bytes, or accumulator rows,
// `stride` apart: a superset of what a run touches.
struct Effect {
  bool write = false;
  bool accumulators = false;
  int64_t base = 0, len = 0;
  int64_t count[3] = {1, 1, 1};
  int64_t stride[3] = {0, 0, 0};
};

// + - * / % (of whole numbers, towards zero), min(a, b), max(a, b) and
// parentheses, over numbers, constants and arguments.
class Expression {
 public:
  // Errors: InvalidArgument.
  static absl::StatusOr<Expression> Parse(
      std::string_view text, const std::map<std::string, int64_t>& constants,
      const std::map<std::string, int>& arguments);
  // Division by zero gives 0.
  int64_t Of(const std::vector<int64_t>& arguments) const;

 private:
  friend class ExpressionParser;
  struct Step {
    char op;        // 'n': number, 'a': argument, 'm', 'M': min, max; or + - *
    int64_t value;  // of n; index of a
  };
  std::vector<Step> steps_;  // operands before operators
};

class Declaration {
 public:
  // The lines above a label. Errors: InvalidArgument.
  static absl::StatusOr<Declaration> Parse(
      const std::vector<vpu::Code::Note>& notes,
      const std::map<std::string, int64_t>& constants,
      const std::map<std::string, int>& arguments);

  // Of a run with these arguments; effects of no bytes are left out.
  std::vector<Effect> Effects(const std::vector<int64_t>& arguments) const;
  int64_t Cycles(const std::vector<int64_t>& arguments) const {
    return cycles_.Of(arguments);
  }

 private:
  struct Part {
    bool write, accumulators;
    std::vector<Expression> numbers;  // base, len, then count, stride
  };
  std::vector<Part> parts_;
  Expression cycles_;
};

}  // namespace systole::kernels

#endif  // HOST_KERNELS_DECLARATION_H_
