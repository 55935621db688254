// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Values of the inputs of StableHLO, float and ONNX models, as options name
// them.
#ifndef HOST_TOOLS_MODULE_INPUTS_H_
#define HOST_TOOLS_MODULE_INPUTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/literal.h"
#include "host/ir/module.h"
#include "host/tools/run.h"

namespace systole::tools {

struct ModuleInputs {
  std::vector<std::vector<ir::Literal>> runs;  // values of each input
  bool stacked = false;  // outputs have an axis for the runs
};

// Of the files args.inputs, or args.random times random values of args.seed.
// Errors: InvalidArgument names the input and what it has to be.
absl::StatusOr<ModuleInputs> ReadInputs(const RunArgs& args,
                                        const ir::Module& module);

}  // namespace systole::tools

#endif  // HOST_TOOLS_MODULE_INPUTS_H_
