// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/module_program.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "host/files/read_file.h"
#include "host/import/stablehlo/stablehlo_importer.h"
#include "host/partition/tiles.h"

namespace systole::tools {
using ir::Literal;

std::unique_ptr<ir::Module> ModuleProgram::TakeModule() {
  return local ? std::move(local->module) : std::move(module);
}

std::vector<std::vector<Literal>> ModuleProgram::Divided(
    const std::vector<Literal>& inputs) const {
  if (!local) return {inputs};
  std::vector<std::vector<Literal>> all(devices);
  for (int device = 0; device < devices; ++device) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      all[device].push_back(partition::TileOf(
          inputs[i], input_types[i], local->inputs[i], device, devices));
    }
  }
  return all;
}

std::vector<Literal> ModuleProgram::Joined(
    const std::vector<std::vector<Literal>>& outputs) const {
  if (!local) return outputs[0];
  std::vector<Literal> joined;
  for (size_t i = 0; i < output_types.size(); ++i) {
    const ir::Type& type = output_types[i];
    Literal& whole =
        joined.emplace_back(Literal::Zeros(type.element, type.elements()));
    // Of equal tiles, that of the first device.
    for (int device = devices - 1; device >= 0; --device)
      partition::PutTile(outputs[device][i], type, local->outputs[i], device,
                         devices, whole);
  }
  return joined;
}

namespace {

ModuleProgram WithTypes(ModuleProgram program) {
  for (const ir::Node* input : program.module->inputs())
    program.input_types.push_back(input->type);
  for (const ir::Output& output : program.module->outputs)
    program.output_types.push_back(output.node.type());
  return program;
}

}  // namespace

absl::StatusOr<ModuleProgram> ReadModuleProgram(const std::string& path,
                                                ModuleKind kind,
                                                const ModuleArgs& args,
                                                int devices) {
  if (absl::Status s = CheckModuleArgs(path, kind, args); !s.ok()) return s;
  ModuleProgram program;
  if (devices != 1 && kind == ModuleKind::kStableHlo) {
    const absl::StatusOr<std::string> bytes = ReadFile(path);
    if (!bytes.ok()) return bytes.status();
    const auto named = [&](const absl::Status& status) {
      return absl::Status(status.code(),
                          absl::StrCat(path, ": ", status.message()));
    };
    auto imported = import::ImportStableHlo(*bytes);
    if (!imported.ok()) return named(imported.status());
    program.devices = imported->num_partitions;
    if (devices != 0 && devices != program.devices) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": is a program for ",
                       imported->num_partitions == 1
                           ? std::string("one device; leave --devices out")
                           : absl::StrCat(imported->num_partitions,
                                          " devices; give --devices ",
                                          imported->num_partitions)));
    }
    if (program.devices == 1) {
      program.module = std::move(imported->module);
      return WithTypes(std::move(program));
    }
    auto global = import::GlobalProgramOf(*imported);
    if (!global.ok()) return named(global.status());
    auto local = partition::Partition(*global);
    if (!local.ok()) return named(local.status());
    for (const auto* shardings : {&local->inputs, &local->outputs}) {
      for (const partition::Sharding& sharding : *shardings) {
        if (sharding.unreduced.empty()) continue;
        return absl::UnimplementedError(absl::StrCat(
            path, ": has inputs or outputs that are parts of a sum"));
      }
    }
    program.local = *std::move(local);
    program.module = std::move(global->module);
  } else {
    if (devices > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": --devices is for StableHLO; ",
                       ModuleKindText(kind), " runs on one device"));
    }
    auto module = ReadModuleFile(path, kind, args);
    if (!module.ok()) return module.status();
    program.module = *std::move(module);
  }
  return WithTypes(std::move(program));
}

absl::StatusOr<std::vector<Literal>> RunOnce(
    const ModuleProgram& program, runtime::Executable& executable,
    runtime::Client& client, const std::vector<Literal>& inputs) {
  const auto divided = program.Divided(inputs);
  std::vector<runtime::Arguments> arguments(divided.size());
  std::vector<runtime::Device*> devices;
  for (size_t d = 0; d < divided.size(); ++d) {
    devices.push_back(&client.device(static_cast<int>(d)));
    for (size_t i = 0; i < divided[d].size(); ++i) {
      arguments[d].push_back(std::make_shared<runtime::Buffer>(
          *devices[d], executable.parameters()[i], divided[d][i]));
    }
  }
  const auto executions = executable.ExecuteAll(arguments, devices);
  if (!executions.ok()) return executions.status();
  std::vector<std::vector<Literal>> outputs(divided.size());
  // All have ended before the first error is told.
  absl::Status status;
  for (const runtime::Execution& execution : *executions)
    status.Update(execution.done->Await());
  if (!status.ok()) return status;
  for (size_t d = 0; d < divided.size(); ++d) {
    for (const auto& result : (*executions)[d].results) {
      absl::StatusOr<Literal> value = result->Await();
      if (!value.ok()) return value.status();
      outputs[d].push_back(*std::move(value));
    }
  }
  return program.Joined(outputs);
}

}  // namespace systole::tools
