// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// `systole profile` of StableHLO, float and ONNX models: the programs, a
// product or a kernel each, are joined to one, of which each is a layer.
#ifndef HOST_TOOLS_PROFILE_MODULE_H_
#define HOST_TOOLS_PROFILE_MODULE_H_

#include <functional>

#include "absl/status/status.h"
#include "host/profile/profile.h"
#include "host/tools/run.h"

namespace systole::tools {

// Prints and writes a profile, without its command.
using FinishProfile =
    std::function<absl::Status(profile::Profile& profile, const RunStats& sum)>;

// args.model on args.inputs, or else on random ones of args.seed. check_files:
// whether what is to be written can be, before the run.
absl::Status ProfileModuleFile(const RunArgs& args, ModuleKind kind,
                               const std::function<absl::Status()>& check_files,
                               const FinishProfile& finish);

}  // namespace systole::tools

#endif  // HOST_TOOLS_PROFILE_MODULE_H_
