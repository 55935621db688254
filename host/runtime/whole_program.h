// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A program on whole arrays, with the devices that it runs on: one, or those
// among which it is divided.
#ifndef SYSTOLE_HOST_RUNTIME_WHOLE_PROGRAM_H_
#define SYSTOLE_HOST_RUNTIME_WHOLE_PROGRAM_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "host/import/stablehlo/stablehlo_importer.h"
#include "host/ir/literal.h"
#include "host/partition/partitioner.h"
#include "host/runtime/client.h"

namespace systole::runtime {

struct WholeProgram {
  std::unique_ptr<ir::Module> module;            // on whole arrays
  std::optional<partition::LocalProgram> local;  // of several devices
  int devices = 1;
  std::vector<ir::Type> input_types, output_types;  // of whole arrays

  static WholeProgram Of(std::unique_ptr<ir::Module> module);
  // Of as many devices as it is for. Errors: those of GlobalProgramOf and
  // Partition; Unimplemented for inputs and outputs that are parts of a sum.
  static absl::StatusOr<WholeProgram> Of(import::StableHloProgram program);

  // What each device runs.
  std::unique_ptr<ir::Module> DeviceModule() const;
  ir::ProcessGrid grid() const { return {1, devices}; }
  // The inputs of each device.
  std::vector<std::vector<ir::Literal>> Divided(
      std::vector<ir::Literal> inputs) const;
  // The outputs from those of each device.
  std::vector<ir::Literal> Joined(
      const std::vector<std::vector<ir::Literal>>& outputs) const;
};

// Runs it once on the client's first devices, and waits. Errors: those of
// Executable::ExecuteAll and of the execution.
absl::StatusOr<std::vector<ir::Literal>> RunOnce(
    const WholeProgram& program, Executable& executable, Client& client,
    std::vector<ir::Literal> inputs);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_WHOLE_PROGRAM_H_
