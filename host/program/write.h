// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_PROGRAM_WRITE_H_
#define SYSTOLE_HOST_PROGRAM_WRITE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "systole/program.h"

namespace systole {

// WriteProgram with `more` sections behind the program's own. What ParseProgram
// checks is checked before; the bytes of segments and sections are not copied,
// for weights are many.
absl::Status WriteProgram(const Program& program, const std::string& path,
                          absl::Span<const Section> more);

}  // namespace systole

#endif  // SYSTOLE_HOST_PROGRAM_WRITE_H_
