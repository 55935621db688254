// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A module of a file with the devices that it runs on: one, or those among
// which a StableHLO program of several partitions is divided. Inputs and
// outputs are whole arrays.
#ifndef HOST_TOOLS_MODULE_PROGRAM_H_
#define HOST_TOOLS_MODULE_PROGRAM_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/literal.h"
#include "host/partition/partitioner.h"
#include "host/runtime/client.h"
#include "host/tools/module_file.h"

namespace systole::tools {

struct ModuleProgram {
  std::unique_ptr<ir::Module> module;            // on whole arrays
  std::optional<partition::LocalProgram> local;  // of several devices
  int devices = 1;

  // What each device runs. Takes it.
  std::unique_ptr<ir::Module> TakeModule();
  ir::ProcessGrid grid() const { return {1, devices}; }
  // The inputs of each device.
  std::vector<std::vector<ir::Literal>> Divided(
      const std::vector<ir::Literal>& inputs) const;
  // The outputs from those of each device.
  std::vector<ir::Literal> Joined(
      const std::vector<std::vector<ir::Literal>>& outputs) const;

  std::vector<ir::Type> input_types, output_types;  // of whole arrays
};

// `devices` 0: as many as the program is for. Errors: as of ReadModuleFile;
// InvalidArgument if the program is for another number of devices.
absl::StatusOr<ModuleProgram> ReadModuleProgram(const std::string& path,
                                                ModuleKind kind,
                                                const ModuleArgs& args,
                                                int devices);

// Runs it once on the client's first devices, and waits.
absl::StatusOr<std::vector<ir::Literal>> RunOnce(
    const ModuleProgram& program, runtime::Executable& executable,
    runtime::Client& client, const std::vector<ir::Literal>& inputs);

}  // namespace systole::tools

#endif  // HOST_TOOLS_MODULE_PROGRAM_H_
