// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Compilation and execution.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "host/files/write_file.h"
#include "host/ir/text.h"
#include "host/pjrt/objects.h"

namespace systole::pjrt {
namespace {

using runtime::Buffer;
using runtime::Execution;

absl::Status CheckDevices(const PJRT_Client& client, CompileOptions& options) {
  const auto count = static_cast<int64_t>(client.device_list.size());
  if (options.partitions > 1) {
    return absl::UnimplementedError(absl::StrCat(
        "a program of ", options.partitions,
        " partitions: arrays are not divided among devices yet; place each on "
        "one device"));
  }
  if (options.devices.empty()) {
    for (int64_t r = 0; r < options.replicas; ++r)
      options.devices.push_back({r});
  }
  for (const std::vector<int64_t>& replica : options.devices) {
    if (replica[0] < 0 || replica[0] >= count) {
      return absl::InvalidArgumentError(
          absl::StrCat("a program for device ", replica[0], "; there are ",
                       count, " (SYSTOLE_DEVICES)"));
    }
  }
  return absl::OkStatus();
}

void DescribeResults(PJRT_Executable& executable) {
  for (const ir::Type& type : executable.executable->results()) {
    executable.types.push_back(TypeOf(type.element));
    executable.dims.insert(executable.dims.end(), type.shape.begin(),
                           type.shape.end());
    executable.ranks.push_back(type.shape.size());
    executable.memory_kinds.push_back(kMemoryKind);
    executable.memory_kind_sizes.push_back(std::strlen(kMemoryKind));
  }
}

// With SYSTOLE_DUMP=FOLDER, writes each program there as received.
absl::Status Dump(absl::string_view code) {
  static std::atomic<int> number{0};
  const char* folder = std::getenv("SYSTOLE_DUMP");
  if (folder == nullptr || *folder == '\0') return absl::OkStatus();
  const std::string path =
      absl::StrFormat("%s/program_%04d.mlirbc", folder, number++);
  const absl::Status status = WriteFile({code.data(), code.size()}, path);
  return status.ok()
             ? status
             : absl::Status(status.code(),
                            absl::StrCat("SYSTOLE_DUMP: ", status.message()));
}

// Reports what runs on the host: by default once that something does; with
// SYSTOLE_REPORT=1 the shares of each program.
void Report(const PJRT_Executable& executable) {
  const runtime::ModulePlacement& placement =
      executable.executable->placement();
  const char* wanted = std::getenv("SYSTOLE_REPORT");
  if (wanted != nullptr && *wanted != '\0' && *wanted != '0') {
    std::fprintf(stderr, "systole: %s\n",
                 runtime::PlacementText(executable.name, placement).c_str());
    if (const std::string slow = runtime::SlowKernelsText(placement);
        !slow.empty()) {
      std::fprintf(stderr, "  %s\n",
                   absl::StrReplaceAll(slow, {{"\n", "\n  "}}).c_str());
    }
    return;
  }
  static std::atomic<bool> said{false};
  if (placement.host.operations == 0 || said.exchange(true)) return;
  std::fprintf(stderr,
               "systole: a part of this program runs on the host, not on the "
               "core; SYSTOLE_REPORT=1 lists what does, "
               "SYSTOLE_FALLBACK=error refuses them\n");
}

PJRT_Error* Compile(PJRT_Client_Compile_Args* args) {
  return Call(
      args, PJRT_STRUCT_SIZE(PJRT_Client_Compile_Args, executable),
      [&]() -> absl::Status {
        const std::string format(args->program->format,
                                 args->program->format_size);
        if (format != "mlir") {
          return absl::UnimplementedError(absl::StrCat(
              "a program of the format '", format,
              "': StableHLO in MLIR bytecode ('mlir') is what is read"));
        }
        absl::StatusOr<CompileOptions> options = ParseCompileOptions(
            {args->compile_options, args->compile_options_size});
        if (!options.ok()) return options.status();
        if (absl::Status s = CheckDevices(*args->client, *options); !s.ok())
          return s;
        if (absl::Status s =
                Dump({args->program->code, args->program->code_size});
            !s.ok())
          return s;
        absl::StatusOr<import::StableHloProgram> program =
            import::ImportStableHlo(
                {args->program->code, args->program->code_size});
        if (!program.ok()) return program.status();
        auto made = std::make_shared<PJRT_Executable>();
        made->name = program->module->name;
        absl::StatusOr<std::shared_ptr<runtime::Executable>> executable =
            args->client->client->Compile(std::move(program->module));
        if (!executable.ok()) return executable.status();
        made->executable = *std::move(executable);
        for (const import::StableHloArgument& argument : program->arguments) {
          made->donated.push_back(argument.donated ||
                                  argument.aliased_output.has_value());
        }
        made->options = *std::move(options);
        made->text = absl::StrCat("module @", made->name,
                                  " attributes {mhlo.num_partitions = 1 : "
                                  "i32, mhlo.num_replicas = ",
                                  made->options.replicas, " : i32} {\n}\n");
        DescribeResults(*made);
        Report(*made);
        auto loaded = std::make_unique<PJRT_LoadedExecutable>();
        loaded->client = args->client;
        for (const std::vector<int64_t>& replica : made->options.devices)
          loaded->devices.push_back(args->client->device_list[replica[0]]);
        loaded->executable = std::move(made);
        args->executable = loaded.release();
        return absl::OkStatus();
      });
}

PJRT_Error* CompileOnly(PJRT_Compile_Args*) {
  return Wrap(absl::UnimplementedError(
      "compiling for a topology without a client: compile on a client"));
}

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
  args->size_in_bytes = -1;  // not known before execution
  return nullptr;
}

PJRT_Error* Cost(PJRT_Executable_GetCostAnalysis_Args* args) {
  args->num_properties = 0;
  args->properties = nullptr;
  return nullptr;
}

PJRT_Error* MemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args*) {
  return Wrap(absl::UnimplementedError("memory of a compiled program"));
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
  const std::string& text = args->executable->text;
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

PJRT_Error* Serialize(PJRT_Executable_Serialize_Args*) {
  return Wrap(absl::UnimplementedError("executables are not serialised"));
}

PJRT_Error* Deserialize(PJRT_Executable_DeserializeAndLoad_Args*) {
  return Wrap(absl::UnimplementedError("executables are not serialised"));
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
        if (args->execute_device == nullptr &&
            args->num_devices != loaded.devices.size()) {
          return absl::InvalidArgumentError(absl::StrCat(
              executable.name, ": arguments for ", args->num_devices,
              " devices, it was compiled for ", loaded.devices.size()));
        }
        const std::vector<bool> donated =
            Donated(executable, args->options, args->num_args);
        for (size_t d = 0; d < args->num_devices; ++d) {
          PJRT_Device* device = args->execute_device != nullptr
                                    ? args->execute_device
                                    : loaded.devices[d];
          std::vector<std::shared_ptr<Buffer>> arguments;
          for (size_t i = 0; i < args->num_args; ++i) {
            PJRT_Buffer* argument = args->argument_lists[d][i];
            if (absl::Status s = CheckAlive(argument); !s.ok()) return s;
            arguments.push_back(argument->buffer);
          }
          absl::StatusOr<Execution> execution =
              executable.executable->Execute(arguments, *device->device);
          if (!execution.ok()) return execution.status();
          for (size_t i = 0; i < args->num_args; ++i) {
            if (donated[i]) args->argument_lists[d][i]->buffer.reset();
          }
          for (size_t i = 0; i < execution->results.size(); ++i) {
            args->output_lists[d][i] =
                Wrap(device, std::move(execution->results[i]));
          }
          if (args->device_complete_events != nullptr)
            args->device_complete_events[d] = Wrap(execution->done);
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
  api.PJRT_Client_Compile = Compile;
  api.PJRT_Compile = CompileOnly;
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
  api.PJRT_Executable_Serialize = Serialize;
  api.PJRT_Executable_DeserializeAndLoad = Deserialize;
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
