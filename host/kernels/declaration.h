// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel's text declares above its label (docs/vpu.md, "Declarations"),
// in terms of its arguments:
//
//   .reads  acc[acc, rows]                    # accumulator rows
//   .writes ub[dst, 2*cols, rows x pitch]     # bytes, runs of them, 3 deep
//   .cycles 30 + rows
//   acc_bf16:
#ifndef SYSTOLE_HOST_KERNELS_DECLARATION_H_
#define SYSTOLE_HOST_KERNELS_DECLARATION_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "host/program/vpu_asm.h"
#include "host/program/vpu_expression.h"

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

class Declaration {
 public:
  // The lines above a label. Errors, InvalidArgument: "line: what is wrong".
  static absl::StatusOr<Declaration> Parse(
      const std::vector<vpu::Code::Note>& notes,
      const std::map<std::string, int64_t>& constants,
      const std::map<std::string, int>& arguments);

  // Of a run with these arguments; effects of no bytes are left out. Errors,
  // InvalidArgument: arguments with which a number has no value.
  absl::StatusOr<std::vector<Effect>> Effects(
      absl::Span<const int64_t> arguments) const;
  absl::StatusOr<int64_t> Cycles(absl::Span<const int64_t> arguments) const;

 private:
  struct Part {
    std::string text;
    bool write, accumulators;
    std::vector<vpu::Expression> numbers;  // base, len, then count, stride
  };
  std::vector<Part> parts_;
  vpu::Expression cycles_;
};

}  // namespace systole::kernels

#endif  // SYSTOLE_HOST_KERNELS_DECLARATION_H_
