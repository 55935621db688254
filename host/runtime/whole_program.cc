// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/whole_program.h"

#include <utility>

#include "host/partition/tiles.h"

namespace systole::runtime {

using ir::Literal;

WholeProgram WholeProgram::Of(std::unique_ptr<ir::Module> module) {
  WholeProgram program;
  program.module = std::move(module);
  for (const ir::Node* input : program.module->inputs())
    program.input_types.push_back(input->type);
  for (const ir::Output& output : program.module->outputs)
    program.output_types.push_back(output.node.type());
  return program;
}

absl::StatusOr<WholeProgram> WholeProgram::Of(
    import::StableHloProgram imported) {
  if (imported.num_partitions == 1) return Of(std::move(imported.module));
  auto global = import::GlobalProgramOf(imported);
  if (!global.ok()) return global.status();
  auto local = partition::Partition(*global);
  if (!local.ok()) return local.status();
  for (const auto* shardings : {&local->inputs, &local->outputs}) {
    for (const partition::Sharding& sharding : *shardings) {
      if (sharding.unreduced.empty()) continue;
      return absl::UnimplementedError(
          "has inputs or outputs that are parts of a sum");
    }
  }
  WholeProgram program = Of(std::move(global->module));
  program.devices = global->devices;
  program.local = *std::move(local);
  return program;
}

std::unique_ptr<ir::Module> WholeProgram::DeviceModule() const {
  return (local ? local->module : module)->Clone();
}

std::vector<std::vector<Literal>> WholeProgram::Divided(
    std::vector<Literal> inputs) const {
  std::vector<std::vector<Literal>> all(devices);
  if (!local) {
    all[0] = std::move(inputs);
    return all;
  }
  for (int device = 0; device < devices; ++device) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      all[device].push_back(partition::TileOf(
          inputs[i], input_types[i], local->inputs[i], device, devices));
    }
  }
  return all;
}

std::vector<Literal> WholeProgram::Joined(
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

absl::StatusOr<std::vector<Literal>> RunOnce(const WholeProgram& program,
                                             Executable& executable,
                                             Client& client,
                                             std::vector<Literal> inputs) {
  auto divided = program.Divided(std::move(inputs));
  std::vector<Arguments> arguments(divided.size());
  std::vector<Device*> devices;
  for (size_t d = 0; d < divided.size(); ++d) {
    devices.push_back(&client.device(static_cast<int>(d)));
    for (size_t i = 0; i < divided[d].size(); ++i) {
      arguments[d].push_back(std::make_shared<Buffer>(
          *devices[d], executable.parameters()[i], std::move(divided[d][i])));
    }
  }
  const auto executions = executable.ExecuteAll(arguments, devices);
  if (!executions.ok()) return executions.status();
  std::vector<std::vector<Literal>> outputs(divided.size());
  // All have ended before the first error is told.
  absl::Status status;
  for (const Execution& execution : *executions)
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

}  // namespace systole::runtime
