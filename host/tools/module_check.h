// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Outputs of a module against those of the golden interpreter.
#ifndef HOST_TOOLS_MODULE_CHECK_H_
#define HOST_TOOLS_MODULE_CHECK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/literal.h"
#include "host/ir/module.h"
#include "host/tools/module_program.h"

namespace systole::tools {

// The program of a file, which must have the inputs, outputs and devices of
// `program`.
absl::StatusOr<runtime::WholeProgram> ReadGolden(
    const std::string& file, const ModuleArgs& args,
    const runtime::WholeProgram& program);

struct GoldenCheck {
  int64_t values = 0;
  std::vector<std::string> mismatches;
};

// Every output of every run, to the bit. `inputs` by run, `outputs` by output
// and run.
absl::StatusOr<GoldenCheck> CompareWithGolden(
    const std::string& file, const runtime::WholeProgram& golden,
    const std::vector<std::vector<ir::Literal>>& inputs,
    const std::vector<std::vector<ir::Literal>>& outputs);

}  // namespace systole::tools

#endif  // HOST_TOOLS_MODULE_CHECK_H_
