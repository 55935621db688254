// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_PROGRAM_CHECK_H_
#define SYSTOLE_HOST_PROGRAM_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "systole/program.h"

namespace systole {

// What a program file promises about its contents: a preset, sizes and
// addresses within its memory, nothing that overlaps, names once, relocations.
// `more`: sections besides the program's own. Errors: InvalidArgument, which
// begins with `name`.
absl::Status CheckProgram(const Program& program,
                          absl::Span<const Section> more,
                          const std::string& name);

}  // namespace systole

#endif  // SYSTOLE_HOST_PROGRAM_CHECK_H_
