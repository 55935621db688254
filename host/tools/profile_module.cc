// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/profile_module.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/profile/cores.h"
#include "host/profile/module_recorder.h"
#include "host/runtime/board.h"
#include "host/tools/interrupt.h"
#include "host/tools/module_inputs.h"
#include "host/tools/module_program.h"
#include "host/tools/report.h"
#include "systole/target.h"

namespace systole::tools {

namespace {

// What runs, on what, and with which inputs.
struct Job {
  const RunArgs& args;
  const Preset& preset;
  runtime::WholeProgram program;
  std::vector<ir::Literal> inputs;
  Progress& progress;
};

// Runs it once; the module's name. Errors: those of the run, and that nothing
// of it runs on the cores.
absl::StatusOr<std::string> RunFor(Job& job, runtime::ClientOptions options) {
  const RunArgs& args = job.args;
  options.backend = args.backend;
  options.preset = std::string(job.preset.name);
  options.devices = job.program.devices;
  auto client = runtime::Client::Create(options);
  if (!client.ok()) return client.status();
  auto executable =
      (*client)->Compile(job.program.DeviceModule(), job.program.grid());
  if (!executable.ok()) return executable.status();
  const auto outputs = runtime::RunOnce(job.program, **executable, **client,
                                        std::move(job.inputs));
  if (Interrupted()) {
    return InterruptedError(
        absl::StrCat("in the program ", args.model, "; nothing is written"));
  }
  if (!outputs.ok()) {
    return absl::Status(
        outputs.status().code(),
        absl::StrCat(args.model, ": ", outputs.status().message()));
  }
  job.progress.Clear();
  return (*executable)->module().name;
}

absl::Status NothingRuns(const RunArgs& args) {
  return absl::FailedPreconditionError(absl::StrCat(
      args.model, ": no part of it runs on the core: nothing to profile"));
}

void SayShown(size_t shown, size_t started) {
  if (started == shown) return;
  std::printf("of %s programs the first %s are shown\n",
              Thousands(static_cast<int64_t>(started)).c_str(),
              Thousands(static_cast<int64_t>(shown)).c_str());
}

absl::Status ProfileOne(Job& job, runtime::ClientOptions options,
                        const FinishProfile& finish) {
  profile::ModuleRecorder recorder;
  options.listener = &recorder;
  options.device.simulation.probes = {&recorder};
  const auto name = RunFor(job, std::move(options));
  if (!name.ok()) return name.status();
  if (recorder.programs().empty()) return NothingRuns(job.args);
  const auto joined = recorder.Join(job.preset);
  if (!joined.ok()) return joined.status();
  SayShown(recorder.programs().size(), recorder.started());
  profile::Profile result;
  result.model = *name;
  result.preset = &job.preset;
  result.programs.push_back(
      {&joined->program, &joined->recording, joined->analysis, joined->starts});
  RunStats sum;
  for (const RunStats& stats : recorder.stats()) sum.Add(stats);
  return finish(result, sum);
}

absl::Status ProfileCores(Job& job, runtime::ClientOptions options,
                          const FinishProfile& finish) {
  profile::CoresRecorder recorder(job.program.devices, job.preset);
  options.listeners = recorder.listeners();
  options.device.simulation.probes = recorder.probes();
  const auto name = RunFor(job, std::move(options));
  if (!name.ok()) return name.status();
  if (recorder.started() == 0) return NothingRuns(job.args);
  const auto joined = recorder.Join();
  if (!joined.ok()) return joined.status();
  SayShown(recorder.recorded(), recorder.started());
  profile::Profile result;
  result.model = *name;
  result.preset = &job.preset;
  result.cores = &*joined;
  for (const profile::Joined& core : joined->cores)
    result.programs.push_back(
        {&core.program, &core.recording, core.analysis, core.starts});
  return finish(result, recorder.stats());
}

// A profile is of cores on one clock.
absl::Status CheckLinked(const RunArgs& args, int devices,
                         const Preset& preset) {
  if (devices == 1 || runtime::Board::IsFor(preset)) return absl::OkStatus();
  const auto linked = PresetsThat([](const Target& t) {
    return t.float_modules() && t.chip().link_bytes != 0;
  });
  return absl::InvalidArgumentError(
      absl::StrCat(args.model, ": a profile of ", devices,
                   " devices is of cores on links, "
                   "and the chips of preset '",
                   std::string(preset.name),
                   "' have none; --preset takes one of "
                   "these: ",
                   absl::StrJoin(linked, ", ")));
}

}  // namespace

absl::Status ProfileModuleFile(const RunArgs& args, ModuleKind kind,
                               const std::function<absl::Status()>& check_files,
                               const FinishProfile& finish) {
  if (args.batch) {
    return absl::InvalidArgumentError(absl::StrCat(
        args.model, ": --batch has no effect on ", ModuleKindText(kind)));
  }
  const auto preset = ModulePreset(kind, args.preset, args.preset_given);
  if (!preset.ok()) return preset.status();
  auto program = ReadModuleProgram(args.model, kind, args.module,
                                   static_cast<int>(args.devices));
  if (!program.ok()) return program.status();
  if (absl::Status s = CheckLinked(args, program->devices, **preset); !s.ok())
    return s;
  RunArgs once = args;
  once.random = args.inputs.empty() ? 1 : 0;
  auto inputs = ReadInputs(once, *program->module);
  if (!inputs.ok()) return inputs.status();
  if (inputs->runs.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(args.model, ": a profile is of one run, --input has ",
                     inputs->runs.size()));
  }
  if (absl::Status s = check_files(); !s.ok()) return s;

  Progress progress(args.quiet);
  progress.set_label(args.model);
  runtime::ClientOptions options;
  auto device =
      DeviceOptionsOf(args, std::string((*preset)->name), progress, 1);
  if (!device.ok()) return device.status();
  options.device = *std::move(device);
  Job job{args, **preset, *std::move(program), std::move(inputs->runs[0]),
          progress};
  return job.program.devices == 1
             ? ProfileOne(job, std::move(options), finish)
             : ProfileCores(job, std::move(options), finish);
}

}  // namespace systole::tools
