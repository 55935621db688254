// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Executables: what they are, and their execution.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "host/pjrt/objects.h"
#include "host/pjrt/program_text.h"

namespace systole::pjrt {
namespace {

using runtime::Buffer;
using runtime::Execution;

PJRT_Error* Destroy(PJRT_Executable_Destroy_Args* args) {
  delete args->executable;
  return nullptr;
}

PJRT_Error* LoadedDestroy(PJRT_LoadedExecutable_Destroy_Args* args) {
  delete args->executable;
  return nullptr;
}

PJRT_Error* GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args* args) {
  args->executable = new PJRT_Executable(*args->loaded_executable->executable);
  return nullptr;
}

PJRT_Error* Name(PJRT_Executable_Name_Args* args) {
  args->executable_name = args->executable->name.data();
  args->executable_name_size = args->executable->name.size();
  return nullptr;
}

PJRT_Error* NumReplicas(PJRT_Executable_NumReplicas_Args* args) {
  args->num_replicas = args->executable->options.replicas;
  return nullptr;
}

PJRT_Error* NumPartitions(PJRT_Executable_NumPartitions_Args* args) {
  args->num_partitions = args->executable->options.partitions;
  return nullptr;
}

PJRT_Error* NumOutputs(PJRT_Executable_NumOutputs_Args* args) {
  args->num_outputs = args->executable->types.size();
  return nullptr;
}

PJRT_Error* CodeSize(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args* args) {
  args->size_in_bytes = args->executable->executable->memory_need().code;
  return nullptr;
}

PJRT_Error* Cost(PJRT_Executable_GetCostAnalysis_Args* args) {
  args->num_properties = args->executable->costs.size();
  args->properties = args->executable->costs.data();
  return nullptr;
}

PJRT_Error* MemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args* args) {
  const PJRT_Executable& executable = *args->executable;
  const runtime::MemoryNeed& need = executable.executable->memory_need();
  const std::vector<ir::Type>& results = executable.executable->results();
  int64_t on_host = 0;
  for (size_t i = 0; i < results.size(); ++i)
    if (executable.memories[i] != 0) on_host += results[i].bytes();
  args->generated_code_size_in_bytes = need.code;
  args->argument_size_in_bytes = need.arguments;
  args->output_size_in_bytes = need.results - on_host;
  args->alias_size_in_bytes = need.aliases;
  args->temp_size_in_bytes = need.temporaries;
  args->host_generated_code_size_in_bytes = 0;
  args->host_argument_size_in_bytes = 0;
  args->host_output_size_in_bytes = on_host;
  args->host_alias_size_in_bytes = 0;
  args->host_temp_size_in_bytes = 0;
  // Callers of earlier versions do not know it.
  if (args->struct_size >=
      PJRT_Executable_GetCompiledMemoryStats_Args_STRUCT_SIZE)
    args->peak_memory_in_bytes = need.peak;
  return nullptr;
}

PJRT_Error* OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args* args) {
  args->num_outputs = args->executable->memory_kinds.size();
  args->memory_kinds = args->executable->memory_kinds.data();
  args->memory_kind_sizes = args->executable->memory_kind_sizes.data();
  return nullptr;
}

PJRT_Error* OutputTypes(PJRT_Executable_OutputElementTypes_Args* args) {
  args->output_types = args->executable->types.data();
  args->num_output_types = args->executable->types.size();
  return nullptr;
}

PJRT_Error* OutputDimensions(PJRT_Executable_OutputDimensions_Args* args) {
  args->num_outputs = args->executable->ranks.size();
  args->dims = args->executable->dims.data();
  args->dim_sizes = args->executable->ranks.data();
  return nullptr;
}

PJRT_Error* OptimizedProgram(PJRT_Executable_OptimizedProgram_Args* args) {
  static constexpr char kFormat[] = "mlir";
  const std::string text = ShowsOperations() ? TextOf(*args->executable, true)
                                             : args->executable->text;
  PJRT_Program& program = *args->program;
  program.format = kFormat;
  program.format_size = std::strlen(kFormat);
  if (program.code == nullptr) {
    program.code_size = text.size();
  } else if (program.code_size < text.size()) {
    return Wrap(absl::InvalidArgumentError("no room for the program's text"));
  } else {
    std::memcpy(program.code, text.data(), text.size());
  }
  return nullptr;
}

PJRT_Error* LoadedDevices(PJRT_LoadedExecutable_AddressableDevices_Args* args) {
  args->addressable_devices = args->executable->devices.data();
  args->num_addressable_devices = args->executable->devices.size();
  return nullptr;
}

PJRT_Error* Delete(PJRT_LoadedExecutable_Delete_Args* args) {
  args->executable->deleted = true;
  return nullptr;
}

PJRT_Error* IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args* args) {
  args->is_deleted = args->executable->deleted;
  return nullptr;
}

template <typename Args>
PJRT_Error* SetFingerprint(Args* args, const PJRT_Executable& executable) {
  const std::string& fingerprint = executable.executable->fingerprint();
  args->executable_fingerprint = fingerprint.data();
  args->executable_fingerprint_size = fingerprint.size();
  return nullptr;
}

PJRT_Error* Fingerprint(PJRT_Executable_Fingerprint_Args* args) {
  return SetFingerprint(args, *args->executable);
}

PJRT_Error* LoadedFingerprint(PJRT_LoadedExecutable_Fingerprint_Args* args) {
  return SetFingerprint(args, *args->executable->executable);
}

PJRT_Error* Assignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args* args) {
  auto* text =
      new std::string(SerializeDevices(args->executable->executable->options));
  args->serialized_bytes = text->data();
  args->serialized_bytes_size = text->size();
  args->serialized_device_assignment =
      reinterpret_cast<PJRT_DeviceAssignmentSerialized*>(text);
  args->serialized_device_assignment_deleter =
      [](PJRT_DeviceAssignmentSerialized* bytes) {
        delete reinterpret_cast<std::string*>(bytes);
      };
  return nullptr;
}

// Arguments that the program may overwrite and that the caller releases.
std::vector<bool> Donated(const PJRT_Executable& executable,
                          const PJRT_ExecuteOptions* options, size_t count) {
  std::vector<bool> donated = executable.donated;
  donated.resize(count);
  if (options == nullptr) return donated;
  for (size_t i = 0; i < options->num_non_donatable_input_indices; ++i) {
    const int64_t kept = options->non_donatable_input_indices[i];
    if (kept >= 0 && kept < static_cast<int64_t>(count)) donated[kept] = false;
  }
  return donated;
}

// On all devices of the program, or on one of them.
// The numbers of arguments that are not donated.
std::vector<size_t> Kept(const std::vector<bool>& donated) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < donated.size(); ++i)
    if (!donated[i]) kept.push_back(i);
  return kept;
}

absl::StatusOr<std::vector<Execution>> Start(
    const PJRT_LoadedExecutable& loaded,
    const std::vector<runtime::Arguments>& arguments,
    const std::vector<PJRT_Device*>& devices, const std::vector<size_t>& kept) {
  runtime::Executable& executable = *loaded.executable->executable;
  if (arguments.size() != devices.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        loaded.executable->name, ": arguments for ", arguments.size(),
        " devices, it runs on ", devices.size()));
  }
  const bool alone = devices.size() == 1;
  if (!alone || loaded.devices.size() == 1) {
    if (executable.grid().count() == 1) {
      absl::StatusOr<Execution> execution =
          executable.Execute(arguments[0], *devices[0]->device, kept);
      if (!execution.ok()) return execution.status();
      return std::vector<Execution>{*std::move(execution)};
    }
    std::vector<runtime::Device*> on;
    for (const PJRT_Device* device : devices) on.push_back(device->device);
    return executable.ExecuteAll(arguments, on, kept);
  }
  const auto found =
      std::find(loaded.devices.begin(), loaded.devices.end(), devices[0]);
  if (found == loaded.devices.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        loaded.executable->name, ": device ", devices[0]->description.id,
        " is none of those that it was compiled for"));
  }
  absl::StatusOr<Execution> execution = executable.ExecuteProcess(
      static_cast<int>(found - loaded.devices.begin()), arguments[0],
      *devices[0]->device, kept);
  if (!execution.ok()) return execution.status();
  return std::vector<Execution>{*std::move(execution)};
}

PJRT_Error* Execute(PJRT_LoadedExecutable_Execute_Args* args) {
  return Call(
      args,
      PJRT_STRUCT_SIZE(PJRT_LoadedExecutable_Execute_Args, execute_device),
      [&]() -> absl::Status {
        PJRT_LoadedExecutable& loaded = *args->executable;
        const PJRT_Executable& executable = *loaded.executable;
        if (loaded.deleted) {
          return absl::FailedPreconditionError(
              absl::StrCat(executable.name, " was deleted"));
        }
        const std::vector<bool> donated =
            Donated(executable, args->options, args->num_args);
        std::vector<runtime::Arguments> arguments(args->num_devices);
        for (size_t d = 0; d < args->num_devices; ++d) {
          for (size_t i = 0; i < args->num_args; ++i) {
            PJRT_Buffer* argument = args->argument_lists[d][i];
            if (absl::Status s = CheckAlive(argument); !s.ok()) return s;
            arguments[d].push_back(argument->buffer);
          }
        }
        std::vector<PJRT_Device*> devices = loaded.devices;
        if (args->execute_device != nullptr) devices = {args->execute_device};
        const GoldenCheck* check = executable.check.get();
        if (check != nullptr && devices.size() < loaded.devices.size()) {
          check->CannotCompare("its devices are called one by one");
          check = nullptr;
        }
        absl::StatusOr<GoldenCheck::Values> inputs = GoldenCheck::Values();
        if (check != nullptr) inputs = GoldenCheck::ValuesOf(arguments);
        if (!inputs.ok()) return inputs.status();
        absl::StatusOr<std::vector<Execution>> executions =
            Start(loaded, arguments, devices, Kept(donated));
        if (!executions.ok()) return executions.status();
        if (check != nullptr) {
          if (absl::Status s = check->Compare(*inputs, *executions); !s.ok())
            return s;
        }
        for (size_t d = 0; d < executions->size(); ++d) {
          Execution& execution = (*executions)[d];
          for (size_t i = 0; i < args->num_args; ++i) {
            if (donated[i]) args->argument_lists[d][i]->buffer.reset();
          }
          for (size_t i = 0; i < execution.results.size(); ++i) {
            args->output_lists[d][i] = Wrap(
                devices[d]->memories[executable.memories[i]],
                std::move(execution.results[i]), executable.complex_results[i]);
          }
          if (args->device_complete_events != nullptr)
            args->device_complete_events[d] = Wrap(execution.done);
        }
        return absl::OkStatus();
      });
}

PJRT_Error* ContextCreate(PJRT_ExecuteContext_Create_Args* args) {
  args->context = nullptr;
  return nullptr;
}

PJRT_Error* ContextDestroy(PJRT_ExecuteContext_Destroy_Args*) {
  return nullptr;
}

}  // namespace

void FillExecutable(PJRT_Api& api) {
  api.PJRT_Executable_Destroy = Destroy;
  api.PJRT_Executable_Name = Name;
  api.PJRT_Executable_NumReplicas = NumReplicas;
  api.PJRT_Executable_NumPartitions = NumPartitions;
  api.PJRT_Executable_NumOutputs = NumOutputs;
  api.PJRT_Executable_SizeOfGeneratedCodeInBytes = CodeSize;
  api.PJRT_Executable_GetCostAnalysis = Cost;
  api.PJRT_Executable_GetCompiledMemoryStats = MemoryStats;
  api.PJRT_Executable_OutputMemoryKinds = OutputMemoryKinds;
  api.PJRT_Executable_OutputElementTypes = OutputTypes;
  api.PJRT_Executable_OutputDimensions = OutputDimensions;
  api.PJRT_Executable_OptimizedProgram = OptimizedProgram;
  api.PJRT_Executable_Fingerprint = Fingerprint;
  api.PJRT_LoadedExecutable_Destroy = LoadedDestroy;
  api.PJRT_LoadedExecutable_GetExecutable = GetExecutable;
  api.PJRT_LoadedExecutable_AddressableDevices = LoadedDevices;
  api.PJRT_LoadedExecutable_Delete = Delete;
  api.PJRT_LoadedExecutable_IsDeleted = IsDeleted;
  api.PJRT_LoadedExecutable_Execute = Execute;
  api.PJRT_LoadedExecutable_Fingerprint = LoadedFingerprint;
  api.PJRT_LoadedExecutable_GetDeviceAssignment = Assignment;
  api.PJRT_ExecuteContext_Create = ContextCreate;
  api.PJRT_ExecuteContext_Destroy = ContextDestroy;
}

}  // namespace systole::pjrt
