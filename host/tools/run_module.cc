// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// `systole run` of StableHLO, float and ONNX models: products on the array of a
// bf16 core, what else it can on its vector unit, the rest on the host.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/files/printable.h"
#include "host/files/write_file.h"
#include "host/runtime/client.h"
#include "host/tools/interrupt.h"
#include "host/tools/module_check.h"
#include "host/tools/module_inputs.h"
#include "host/tools/module_parts.h"
#include "host/tools/report.h"
#include "host/tools/run.h"
#include "host/tools/tensor_io.h"

namespace systole::tools {
namespace {

using ir::Literal;
using Json = nlohmann::ordered_json;

struct Results {
  std::vector<std::vector<Literal>> outputs;  // of each output, run by run
  runtime::CoreWork work;
  int64_t traced = 0;  // programs of the core that --trace-core names
  // Simulated cycles of linked cores, which run at the same time.
  std::optional<uint64_t> elapsed;
  std::vector<Part> parts;
};

// Options that have no effect here.
absl::Status CheckOptions(const RunArgs& args, ModuleKind kind) {
  static const std::set<std::string> without = {
      "--batch", "--float", "--reset-variables", "--tensors"};
  for (const std::string& option : args.given) {
    if (without.count(option) > 0) {
      return absl::InvalidArgumentError(absl::StrCat(args.model, ": ", option,
                                                     " has no effect on ",
                                                     ModuleKindText(kind)));
    }
  }
  return absl::OkStatus();
}

// With the file in front, for the module's name may be any.
absl::Status Named(const RunArgs& args, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(args.model, ": ", status.message()));
}

absl::StatusOr<Results> RunAll(const RunArgs& args, Progress& progress,
                               const runtime::WholeProgram& program,
                               runtime::Executable& executable,
                               runtime::Client& client,
                               const ModuleInputs& inputs) {
  Results results;
  results.outputs.resize(executable.results().size());
  for (size_t run = 0; run < inputs.runs.size(); ++run) {
    progress.set_label(absl::StrFormat("%s: run %d of %d", args.model, run,
                                       inputs.runs.size()));
    auto outputs = RunOnce(program, executable, client, inputs.runs[run]);
    if (Interrupted()) {
      return InterruptedError(
          absl::StrFormat("after %d of %d runs; no results are written", run,
                          inputs.runs.size()));
    }
    if (!outputs.ok()) return Named(args, outputs.status());
    for (size_t i = 0; i < outputs->size(); ++i)
      results.outputs[i].push_back(std::move((*outputs)[i]));
  }
  progress.Clear();
  for (int d = 0; d < client.devices(); ++d) {
    const runtime::CoreWork work = client.device(d).TakeWork();
    if (d == args.waves.trace.core) results.traced = work.programs;
    results.work.Add(work);
  }
  if (client.board() != nullptr) results.elapsed = client.board()->TakeCycles();
  return results;
}

absl::Status CheckFiles(const RunArgs& args,
                        const std::vector<std::string>& files) {
  std::vector<std::string> read = {args.model, args.check, args.firmware},
                           written = files;
  written.push_back(args.waves.trace.file);
  for (const std::string& input : args.inputs)
    read.push_back(input.substr(input.find('=') + 1));
  absl::Status status = CheckDistinct(written, read);
  for (const std::string& file : files) {
    if (status.ok() && !file.empty())
      status = WithHint(CheckWritable(file), kOtherOutput);
  }
  if (status.ok() && args.reports_given && !args.reports.empty())
    status = WithHint(MakeFolder(args.reports), kOtherReports);
  return status;
}

void PrintTable(const RunArgs& args, const std::string& preset,
                const runtime::WholeProgram& program,
                const runtime::Executable& executable,
                const ModuleInputs& inputs, const Results& results) {
  const ir::Module& module = executable.module();
  std::printf("%s on %s, %s, %d run(s)\n\n", Printable(args.model).c_str(),
              args.backend.c_str(), preset.c_str(),
              static_cast<int>(inputs.runs.size()));
  Table outputs({"output", "values", "from, to"});
  for (size_t i = 0; i < results.outputs.size(); ++i) {
    outputs.Add({module.outputs[i].name,
                 ValuesText(program.output_types[i], module.outputs[i].stored),
                 SpanText(results.outputs[i])});
  }
  std::printf("%s\n", outputs.ToString().c_str());
  const runtime::CoreWork& work = results.work;
  const auto cycles = static_cast<int64_t>(work.stats.cycles);
  const bool timed = args.backend != "iss";
  if (!results.parts.empty()) {
    std::vector<std::string> head = {"part of the program", "unit", "runs"};
    if (timed) head.insert(head.end(), {"cycles", "share"});
    Table parts(head);
    for (const Part& part : results.parts) {
      std::vector<std::string> row = {part.name, part.unit,
                                      Thousands(part.runs)};
      if (timed) {
        row.push_back(part.cycles ? Thousands(*part.cycles) : "-");
        row.push_back(part.cycles ? Percent(static_cast<double>(*part.cycles) /
                                            static_cast<double>(
                                                std::max<int64_t>(cycles, 1)))
                                  : "-");
      }
      parts.Add(row);
    }
    std::printf("%s\n", parts.ToString().c_str());
  }
  std::printf("%s\n", Printable(runtime::PlacementText(module.name,
                                                       executable.placement()))
                          .c_str());
  if (cycles > 0 && timed) {
    std::printf("cycles: %s in %s (%.2f s)\n", Thousands(cycles).c_str(),
                Counted(work.programs, "program").c_str(),
                work.stats.host_cpu_seconds);
    if (work.exchanges > 0) {
      std::printf(
          "  of these, exchanges between devices alone: %s (%s) in %s\n",
          Thousands(static_cast<int64_t>(work.exchange_cycles)).c_str(),
          Percent(static_cast<double>(work.exchange_cycles) /
                  static_cast<double>(cycles))
              .c_str(),
          Counted(work.exchanges, "program").c_str());
    }
    if (work.exchanges_beside > 0) {
      std::printf("  exchanges between devices along with kernels: %s\n",
                  Thousands(work.exchanges_beside).c_str());
    }
    if (results.elapsed) {
      std::printf(
          "from begin to end, the devices at the same time: %s cycles\n",
          Thousands(static_cast<int64_t>(*results.elapsed)).c_str());
    }
  }
}

Json ToJson(const RunArgs& args, const std::string& preset,
            const runtime::WholeProgram& program,
            const runtime::Executable& executable, const ModuleInputs& inputs,
            const Results& results, const std::vector<std::string>& files,
            const GoldenCheck* check) {
  const runtime::CoreWork& work = results.work;
  const bool timed = args.backend != "iss";
  Json json = {{"model", executable.module().name},
               {"program", args.model},
               {"backend", args.backend},
               {"preset", preset},
               {"devices", program.devices},
               {"runs", inputs.runs.size()},
               {"programs", work.programs},
               {"cycles", timed ? Json(work.stats.cycles) : Json()},
               {"elapsed_cycles",
                timed && results.elapsed ? Json(*results.elapsed) : Json()},
               {"exchange_cycles", timed ? Json(work.exchange_cycles) : Json()},
               {"exchanges_beside", work.exchanges_beside},
               {"host_cpu_seconds", work.stats.host_cpu_seconds},
               {"parts", Json::array()},
               {"outputs", Json::array()},
               {"check", nullptr}};
  for (const Part& part : results.parts) {
    json["parts"].push_back(
        {{"name", part.name},
         {"unit", part.unit},
         {"runs", part.runs},
         {"cycles", timed && part.cycles ? Json(*part.cycles) : Json()}});
  }
  for (size_t i = 0; i < results.outputs.size(); ++i) {
    json["outputs"].push_back(
        {{"name", executable.module().outputs[i].name},
         {"values", ValuesText(program.output_types[i],
                               executable.module().outputs[i].stored)},
         {"span", SpanText(results.outputs[i])},
         {"file", files[i].empty() ? Json() : Json(files[i])}});
  }
  if (check != nullptr) {
    json["check"] = {{"bit_exact", check->mismatches.empty()},
                     {"values", check->values},
                     {"mismatches", check->mismatches}};
  }
  return json;
}

}  // namespace

absl::Status RunModuleFile(const RunArgs& args, ModuleKind kind) {
  if (absl::Status s = CheckOptions(args, kind); !s.ok()) return s;
  const auto preset = ModulePreset(kind, args.preset, args.preset_given);
  if (!preset.ok()) return preset.status();
  auto program = ReadModuleProgram(args.model, kind, args.module,
                                   static_cast<int>(args.devices));
  if (!program.ok()) return OneLine(program.status());
  const auto inputs = ReadInputs(args, *program->module);
  if (!inputs.ok()) return OneLine(inputs.status());
  std::vector<std::string> names;
  for (const ir::Output& output : program->module->outputs)
    names.push_back(output.name);
  const auto files = FilesFor(names, args.outputs, "--output");
  if (!files.ok()) return OneLine(files.status());
  if (absl::Status s = CheckFiles(args, *files); !s.ok()) return s;
  std::optional<runtime::WholeProgram> golden;
  if (!args.check.empty()) {
    auto read = ReadGolden(args.check, args.module, *program);
    if (!read.ok()) return OneLine(read.status());
    golden = *std::move(read);
  }

  Progress progress(args.quiet);
  runtime::ClientOptions options;
  options.backend = args.backend;
  options.preset = std::string((*preset)->name);
  options.host_operators = args.host_operators != "error";
  Parts parts;
  options.devices = program->devices;
  // Of several devices, kernels overlap.
  if (program->devices == 1) options.listener = &parts;
  auto device = DeviceOptionsOf(args, options.preset, progress, 1,
                                static_cast<size_t>(program->devices));
  if (!device.ok()) return device.status();
  options.device = *std::move(device);
  if (args.backend == "rtl" && program->devices == 1)
    options.device.simulation.probes = {&parts};
  options.device.simulation.probe_may_miss = true;
  auto client = runtime::Client::Create(options);
  if (!client.ok()) return client.status();
  auto executable =
      (*client)->Compile(program->DeviceModule(), program->grid());
  if (!executable.ok()) return OneLine(Named(args, executable.status()));
  auto results =
      RunAll(args, progress, *program, **executable, **client, *inputs);
  if (!results.ok()) return results.status();
  results->parts = parts.all();
  if (absl::Status s = CheckTraceRun(args.waves, results->traced); !s.ok())
    return s;
  GoldenCheck check;
  if (golden) {
    auto compared =
        CompareWithGolden(args.check, *golden, inputs->runs, results->outputs);
    if (!compared.ok()) return compared.status();
    check = *std::move(compared);
  }
  FileSet written;
  absl::Status s;
  for (size_t i = 0; i < files->size(); ++i) {
    if ((*files)[i].empty()) continue;
    const npy::Array array =
        ToArray(results->outputs[i], program->output_types[i],
                (*executable)->module().outputs[i].stored, inputs->stacked);
    s = written.Add(npy::Serialize(array), (*files)[i]);
    if (!s.ok()) return s;
  }
  const Json json =
      ToJson(args, options.preset, *program, **executable, *inputs, *results,
             *files, golden ? &check : nullptr);
  if (args.reports_given && !args.reports.empty())
    s = AddJson(args.reports + "/run.json", json, written);
  if (s.ok()) s = written.Commit();
  if (!s.ok()) return s;
  if (args.json) {
    PrintJson(json);
  } else {
    PrintTable(args, options.preset, *program, **executable, *inputs, *results);
    if (golden) {
      std::printf("checked: %s values, %s\n", Thousands(check.values).c_str(),
                  Counted(check.mismatches.size(), "mismatch").c_str());
    }
  }
  if (check.mismatches.empty()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(Counted(check.mismatches.size(), "mismatch"), ":\n  ",
                   absl::StrJoin(check.mismatches, "\n  ")));
}

}  // namespace systole::tools
