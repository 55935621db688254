// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The section "model" of a program file: docs/program_file.md.
#ifndef SYSTOLE_HOST_RUNTIME_MODEL_SECTION_H_
#define SYSTOLE_HOST_RUNTIME_MODEL_SECTION_H_

#include "absl/status/status.h"
#include "host/runtime/compiled_model.h"

namespace systole::runtime {

inline constexpr char kModelSection[] = "model";

Section ToSection(const CompiledModel& model);
// Parses everything but the program and verifies both modules. Errors:
// InvalidArgument, DataLoss.
absl::Status ParseSection(const Section& section, CompiledModel& model);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_MODEL_SECTION_H_
