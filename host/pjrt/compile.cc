// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Compilation.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "host/files/write_file.h"
#include "host/partition/partitioner.h"
#include "host/pjrt/caller.h"
#include "host/pjrt/manual.h"
#include "host/pjrt/objects.h"
#include "host/pjrt/program_text.h"
#include "host/pjrt/report.h"
#include "host/program/format.h"

namespace systole::pjrt {
namespace {

// Devices in the order of the program's processes.
absl::Status CheckDevices(const PJRT_Client& client, CompileOptions& options,
                          std::vector<PJRT_Device*>& devices) {
  const auto count = static_cast<int64_t>(client.device_list.size());
  const int64_t wanted = options.replicas * options.partitions;
  if (wanted > count) {
    return absl::InvalidArgumentError(
        absl::StrCat("a program for ", wanted, " devices; there are ", count,
                     " (SYSTOLE_DEVICES)"));
  }
  if (options.devices.empty()) {
    for (int64_t r = 0; r < options.replicas; ++r) {
      std::vector<int64_t>& replica = options.devices.emplace_back();
      for (int64_t p = 0; p < options.partitions; ++p)
        replica.push_back(r * options.partitions + p);
    }
  }
  for (const std::vector<int64_t>& replica : options.devices) {
    for (const int64_t id : replica) {
      if (id < 0 || id >= count) {
        return absl::InvalidArgumentError(
            absl::StrCat("a program for device ", id, "; there are ", count,
                         " (SYSTOLE_DEVICES)"));
      }
      PJRT_Device* const device = client.device_list[id];
      if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("a program that has device ", id, " twice"));
      }
      devices.push_back(device);
    }
  }
  return absl::OkStatus();
}

void DescribeResults(PJRT_Executable& executable) {
  const std::vector<ir::Type>& results = executable.executable->results();
  for (size_t i = 0; i < results.size(); ++i) {
    const bool is_complex = executable.complex_results[i];
    const ir::Ints& shape = results[i].shape;
    executable.types.push_back(TypeOf(results[i].element, is_complex));
    executable.dims.insert(executable.dims.end(), shape.begin(),
                           shape.end() - (is_complex ? 1 : 0));
    executable.ranks.push_back(shape.size() - (is_complex ? 1 : 0));
    const char* const kind = kMemoryKinds[executable.memories[i]];
    executable.memory_kinds.push_back(kind);
    executable.memory_kind_sizes.push_back(std::strlen(kind));
  }
}

// The memories that the program's results go to.
absl::Status ReadMemories(const import::StableHloProgram& program,
                          std::vector<int>& memories) {
  for (size_t i = 0; i < program.results.size(); ++i) {
    const std::string& kind = program.results[i].memory_kind;
    const auto found = kind.empty() ? std::begin(kMemoryKinds)
                                    : std::find(std::begin(kMemoryKinds),
                                                std::end(kMemoryKinds), kind);
    if (found == std::end(kMemoryKinds)) {
      return absl::InvalidArgumentError(absl::StrCat(
          program.module->name, ": result ", i, " is to be in the memory '",
          kind, "'; there are ", absl::StrJoin(kMemoryKinds, ", ")));
    }
    memories.push_back(static_cast<int>(found - std::begin(kMemoryKinds)));
  }
  return absl::OkStatus();
}

// What jax's cost_analysis() tells, of each device: floating-point operations
// of products, and bytes between the memory and the unified buffer.
void DescribeCosts(PJRT_Executable& executable) {
  const runtime::ModulePlacement& placement =
      executable.executable->placement();
  const auto add = [&](const char* name, int64_t number) {
    PJRT_NamedValue value;
    std::memset(&value, 0, sizeof(value));
    value.struct_size = PJRT_NamedValue_STRUCT_SIZE;
    value.name = name;
    value.name_size = std::strlen(name);
    value.type = PJRT_NamedValue_kFloat;
    value.float_value = static_cast<float>(number);
    value.value_size = 1;
    executable.costs.push_back(value);
  };
  add("flops", 2 * placement.array.macs);
  add("bytes accessed", placement.moved_bytes);
}

// With SYSTOLE_DUMP=FOLDER, writes each program there as received; and as
// Shardy has it, with the same number, to ".shardy.mlirbc".
absl::Status Dump(absl::string_view code, int number, const char* kind = "") {
  const char* folder = std::getenv("SYSTOLE_DUMP");
  if (folder == nullptr || *folder == '\0') return absl::OkStatus();
  const std::string path =
      absl::StrFormat("%s/program_%04d%s.mlirbc", folder, number, kind);
  const absl::Status status = WriteFile({code.data(), code.size()}, path);
  return status.ok()
             ? status
             : absl::Status(status.code(),
                            absl::StrCat("SYSTOLE_DUMP: ", status.message()));
}

// The program; one of several partitions with what Shardy suggests, unless the
// code has that already. Keeps the code that it is of.
absl::StatusOr<import::StableHloProgram> Import(PJRT_Client& client,
                                                absl::string_view code,
                                                int number,
                                                PJRT_Executable& made) {
  absl::StatusOr<import::StableHloProgram> program =
      import::ImportStableHlo(code);
  made.code = std::string(code);
  if (!program.ok() || program->num_partitions == 1 || made.suggested ||
      client.propagation == nullptr || IsManual(*program))
    return program;
  const absl::StatusOr<std::string> propagated =
      client.propagation->Propagate({code.data(), code.size()});
  absl::Status status = propagated.status();
  if (status.ok()) {
    absl::StatusOr<import::StableHloProgram> suggested =
        import::ImportStableHlo(*propagated);
    status = suggested.status();
    if (status.ok()) status = Dump(*propagated, number, ".shardy");
    if (status.ok()) {
      made.code = *propagated;
      made.suggested = true;
      return suggested;
    }
  }
  std::fprintf(stderr,
               "systole: %s: Shardy suggests nothing (%s); arrays are divided "
               "as the operands of each operation are\n",
               program->module->name.c_str(),
               std::string(status.message()).c_str());
  return program;
}

// The notation of XLA; without the dimension that callers do not see.
std::string TilesText(partition::Sharding sharding, bool is_complex,
                      int64_t partitions) {
  if (is_complex) sharding.dims.pop_back();
  return HloText(sharding, partitions);
}

// Replaces the module by that of each partition.
absl::Status Divide(const CompileOptions& options, const PJRT_Executable& made,
                    import::StableHloProgram& program, Shardings& shardings,
                    Undivided& undivided) {
  if (program.num_partitions != options.partitions) {
    return absl::InvalidArgumentError(absl::StrCat("a program of ",
                                                   program.num_partitions,
                                                   " partitions to be compiled "
                                                   "for ",
                                                   options.partitions));
  }
  if (options.replicas > 1) {
    return absl::UnimplementedError(
        absl::StrCat("a program of ", options.replicas, " replicas of ",
                     options.partitions, " partitions: either is supported"));
  }
  absl::StatusOr<partition::GlobalProgram> global =
      import::GlobalProgramOf(program);
  if (!global.ok()) return global.status();
  absl::StatusOr<partition::LocalProgram> local = partition::Partition(*global);
  if (!local.ok()) return local.status();
  for (size_t i = 0; i < local->inputs.size(); ++i) {
    shardings.inputs.push_back(TilesText(
        local->inputs[i], made.complex_arguments[i], options.partitions));
  }
  for (size_t i = 0; i < local->outputs.size(); ++i) {
    shardings.outputs.push_back(TilesText(
        local->outputs[i], made.complex_results[i], options.partitions));
  }
  const auto text = [](const std::map<std::string, int64_t>& counts) {
    return absl::StrJoin(counts, ", ", absl::PairFormatter(" "));
  };
  undivided = {text(local->whole), text(local->uneven)};
  program.module = std::move(local->module);
  return absl::OkStatus();
}

// `made`: with `suggested`, if the code has suggestions.
absl::StatusOr<PJRT_LoadedExecutable*> Load(
    PJRT_Client& client, absl::string_view code, absl::string_view option_bytes,
    std::shared_ptr<PJRT_Executable> made) {
  absl::StatusOr<CompileOptions> options =
      ParseCompileOptions({option_bytes.data(), option_bytes.size()});
  if (!options.ok()) return options.status();
  static std::atomic<int> next{0};
  const int number = next++;
  auto loaded = std::make_unique<PJRT_LoadedExecutable>();
  absl::Status s = CheckDevices(client, *options, loaded->devices);
  if (s.ok()) s = Dump(code, number);
  if (!s.ok()) return s;
  absl::StatusOr<import::StableHloProgram> program =
      Import(client, code, number, *made);
  if (!program.ok()) return program.status();
  made->option_bytes = std::string(option_bytes);
  made->name = program->module->name;
  for (const import::StableHloArgument& argument : program->arguments) {
    made->donated.push_back(argument.donated ||
                            argument.aliased_output.has_value());
  }
  for (const ir::Node* input : program->module->inputs()) {
    made->complex_arguments.push_back(
        input->attr<ir::ParameterAttributes>().stored == ir::kComplexStored);
  }
  for (const ir::Output& output : program->module->outputs)
    made->complex_results.push_back(output.stored == ir::kComplexStored);
  s = ReadMemories(*program, made->memories);
  if (!s.ok()) return s;
  Undivided undivided;
  if (options->partitions > 1 || program->num_partitions > 1) {
    s = Divide(*options, *made, *program, made->shardings, undivided);
    if (!s.ok()) {
      return absl::Status(s.code(),
                          absl::StrCat(made->name, ": ", s.message()));
    }
  }
  const ir::ProcessGrid grid{static_cast<int>(options->replicas),
                             static_cast<int>(options->partitions)};
  made->check = GoldenCheck::For(*program->module, grid);
  absl::StatusOr<std::shared_ptr<runtime::Executable>> executable =
      client.client->Compile(std::move(program->module), grid);
  if (!executable.ok()) return executable.status();
  (*executable)->Keep(UseOfCalls((*executable)->module()));
  std::vector<runtime::Memory> places;
  for (const int kind : made->memories) places.push_back(PlaceOf(kind));
  (*executable)->PlaceResults(std::move(places));
  made->executable = *std::move(executable);
  made->options = *std::move(options);
  made->text = TextOf(*made, false);
  DescribeResults(*made);
  DescribeCosts(*made);
  Report(*made, undivided);
  loaded->client = &client;
  loaded->executable = std::move(made);
  return loaded.release();
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
        const auto loaded =
            Load(*args->client, {args->program->code, args->program->code_size},
                 {args->compile_options, args->compile_options_size},
                 std::make_shared<PJRT_Executable>());
        if (!loaded.ok()) return loaded.status();
        args->executable = *loaded;
        return absl::OkStatus();
      });
}

// A serialised program begins so, with the number of its form. Then a line with
// the CRC-32 of what follows; and, each behind a line with its length: the
// options and the code.
constexpr char kPlain[] = "systole program 1\n";
constexpr char kSuggested[] = "systole program 1, divided\n";

PJRT_Error* Serialize(PJRT_Executable_Serialize_Args* args) {
  const PJRT_Executable& executable = *args->executable;
  if (UseOfCalls(executable.executable->module()) != nullptr) {
    return Wrap(absl::UnimplementedError(absl::StrCat(
        executable.name,
        ": a program with callbacks belongs to the process that made it and is "
        "not serialised")));
  }
  std::string parts;
  for (const std::string* part : {&executable.option_bytes, &executable.code})
    absl::StrAppend(&parts, part->size(), "\n", *part);
  auto* bytes = new std::string(absl::StrCat(
      executable.suggested ? kSuggested : kPlain,
      program_file::Crc32({std::string_view(parts)}), "\n", parts));
  args->serialized_bytes = bytes->data();
  args->serialized_bytes_size = bytes->size();
  args->serialized_executable =
      reinterpret_cast<PJRT_SerializedExecutable*>(bytes);
  args->serialized_executable_deleter = [](PJRT_SerializedExecutable* own) {
    delete reinterpret_cast<std::string*>(own);
  };
  return nullptr;
}

PJRT_Error* Deserialize(PJRT_Executable_DeserializeAndLoad_Args* args) {
  return Call(args,
              PJRT_STRUCT_SIZE(PJRT_Executable_DeserializeAndLoad_Args,
                               loaded_executable),
              [&]() -> absl::Status {
                const absl::Status damaged = absl::InvalidArgumentError(
                    "this is no program that this version of the plugin has "
                    "serialised, or it is damaged");
                absl::string_view bytes(args->serialized_executable,
                                        args->serialized_executable_size);
                auto made = std::make_shared<PJRT_Executable>();
                made->suggested = absl::ConsumePrefix(&bytes, kSuggested);
                if (!made->suggested && !absl::ConsumePrefix(&bytes, kPlain))
                  return damaged;
                const size_t line = bytes.find('\n');
                uint32_t crc = 0;
                if (line == bytes.npos ||
                    !absl::SimpleAtoi(bytes.substr(0, line), &crc))
                  return damaged;
                bytes.remove_prefix(line + 1);
                if (program_file::Crc32(
                        {std::string_view(bytes.data(), bytes.size())}) != crc)
                  return damaged;
                absl::string_view parts[2];
                for (absl::string_view& part : parts) {
                  const size_t line = bytes.find('\n');
                  size_t length = 0;
                  if (line == bytes.npos ||
                      !absl::SimpleAtoi(bytes.substr(0, line), &length) ||
                      bytes.size() - line - 1 < length)
                    return damaged;
                  part = bytes.substr(line + 1, length);
                  bytes.remove_prefix(line + 1 + length);
                }
                if (!bytes.empty()) return damaged;
                constexpr size_t kOverridden = PJRT_STRUCT_SIZE(
                    PJRT_Executable_DeserializeAndLoad_Args,
                    overridden_serialized_compile_options_size);
                if (args->struct_size >= kOverridden &&
                    args->overridden_serialized_compile_options != nullptr) {
                  parts[0] = {args->overridden_serialized_compile_options,
                              args->overridden_serialized_compile_options_size};
                }
                const auto loaded =
                    Load(*args->client, parts[1], parts[0], std::move(made));
                if (!loaded.ok()) return loaded.status();
                args->loaded_executable = *loaded;
                return absl::OkStatus();
              });
}

PJRT_Error* CompileOnly(PJRT_Compile_Args*) {
  return Wrap(absl::UnimplementedError(
      "compiling for a topology without a client: compile on a client"));
}

}  // namespace

void FillCompile(PJRT_Api& api) {
  api.PJRT_Client_Compile = Compile;
  api.PJRT_Compile = CompileOnly;
  api.PJRT_Executable_Serialize = Serialize;
  api.PJRT_Executable_DeserializeAndLoad = Deserialize;
}

}  // namespace systole::pjrt
