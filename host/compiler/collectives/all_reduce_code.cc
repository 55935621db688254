// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/collectives/all_reduce_code.h"

#include "absl/strings/str_format.h"
#include "host/compiler/collectives/reduction_sizes.h"

namespace systole::compiler {

std::string AllReduceCode(const AllReduceSpec& spec) {
  constexpr const char* kOperations[2][3] = {{"fadd", "fmax", "fmin"},
                                             {"iadd", "imax", "imin"}};
  const char* operation = kOperations[spec.type == AllReduceSpec::Type::kInt32]
                                     [static_cast<int>(spec.operation)];
  const int bits = static_cast<int>(8 * ElementBytes(spec.type));
  std::string text = "many:\n";
  for (int k = 0; k < 8; ++k) {
    absl::StrAppendFormat(
        &text,
        "ld%d v%d, s1, s4, (%d*ROW)\nld%d v%d, s2, s4, (%d*ROW)\n"
        "%s v%d, v%d, v%d\nst%d v%d, s1, s4, (%d*ROW)\n",
        bits, k, 8 * k, bits, 8 + k, 8 * k, operation, 16 + k + k % 2 * 8, k,
        8 + k, bits, 16 + k + k % 2 * 8, 8 * k);
  }
  return text +
         "addi s1, s1, (64*ROW)\naddi s2, s2, (64*ROW)\n"
         "addi s6, s6, -64\nblt s0, s6, many\nhalt\n" +
         absl::StrFormat(
             "few:\nld%d v0, s1, s4, 0\nld%d v8, s2, s4, 0\n"
             "%s v16, v0, v8\nst%d v16, s1, s4, 0\n"
             "addi s1, s1, (8*ROW)\naddi s2, s2, (8*ROW)\n"
             "addi s6, s6, -8\nblt s0, s6, few\nhalt\n",
             bits, bits, operation, bits);
}

}  // namespace systole::compiler
