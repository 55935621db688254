// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_COMPILER_COLLECTIVES_ALL_REDUCE_CODE_H_
#define SYSTOLE_HOST_COMPILER_COLLECTIVES_ALL_REDUCE_CODE_H_

#include <cstdint>
#include <string>

#include "systole/collective.h"

namespace systole::compiler {

// What the vector unit runs to combine two pieces. ROW: bytes of a row. s1, s2:
// the operands; the result replaces the first. s6: rows. From label `many`, 64
// rows a round: registers in turn, so that rows are loaded while others are
// computed and stored. From label `few`, kFewRows a round.
inline constexpr int64_t kManyRows = 64, kFewRows = 8;
std::string AllReduceCode(const AllReduceSpec& spec);

}  // namespace systole::compiler

#endif  // SYSTOLE_HOST_COMPILER_COLLECTIVES_ALL_REDUCE_CODE_H_
