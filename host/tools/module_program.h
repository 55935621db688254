// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef HOST_TOOLS_MODULE_PROGRAM_H_
#define HOST_TOOLS_MODULE_PROGRAM_H_

#include <string>

#include "absl/status/statusor.h"
#include "host/runtime/whole_program.h"
#include "host/tools/module_file.h"

namespace systole::tools {

// The module of a file with the devices that it runs on. `devices` 0: as many
// as the program is for. Errors: as of ReadModuleFile; InvalidArgument if the
// program is for another number of devices.
absl::StatusOr<runtime::WholeProgram> ReadModuleProgram(const std::string& path,
                                                        ModuleKind kind,
                                                        const ModuleArgs& args,
                                                        int devices);

}  // namespace systole::tools

#endif  // HOST_TOOLS_MODULE_PROGRAM_H_
