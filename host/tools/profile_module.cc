// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/profile_module.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/profile/module_recorder.h"
#include "host/runtime/whole_program.h"
#include "host/tools/interrupt.h"
#include "host/tools/report.h"

namespace systole::tools {

absl::Status ProfileModuleFile(const RunArgs& args, ModuleKind kind,
                               const std::function<absl::Status()>& check_files,
                               const FinishProfile& finish) {
  if (args.batch) {
    return absl::InvalidArgumentError(absl::StrCat(
        args.model, ": --batch has no effect on ", ModuleKindText(kind)));
  }
  const auto preset = ModulePreset(kind, args.preset, args.preset_given);
  if (!preset.ok()) return preset.status();
  auto module = ReadModuleFile(args.model, kind, args.module);
  if (!module.ok()) return module.status();
  if (absl::Status s = check_files(); !s.ok()) return s;

  profile::ModuleRecorder recorder;
  Progress progress(args.quiet);
  progress.set_label(args.model);
  runtime::ClientOptions options;
  options.backend = args.backend;
  options.preset = std::string((*preset)->name);
  options.listener = &recorder;
  auto device = DeviceOptionsOf(args, options.preset, progress, 1);
  if (!device.ok()) return device.status();
  options.device = *std::move(device);
  options.device.probes = {&recorder};
  auto client = runtime::Client::Create(options);
  if (!client.ok()) return client.status();
  std::vector<ir::Literal> inputs;
  for (const ir::Node* input : (*module)->inputs())
    inputs.push_back(RandomOf(input->type, args.seed + inputs.size()));
  const auto program = runtime::WholeProgram::Of(*std::move(module));
  auto executable = (*client)->Compile(program.DeviceModule());
  if (!executable.ok()) return executable.status();
  const auto outputs =
      runtime::RunOnce(program, **executable, **client, std::move(inputs));
  if (Interrupted()) {
    return InterruptedError(
        absl::StrCat("in the program ", args.model, "; nothing is written"));
  }
  if (!outputs.ok()) {
    return absl::Status(
        outputs.status().code(),
        absl::StrCat(args.model, ": ", outputs.status().message()));
  }
  progress.Clear();
  if (recorder.programs().empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        args.model, ": no part of it runs on the core: nothing to profile"));
  }
  const auto joined = recorder.Join(**preset);
  if (!joined.ok()) return joined.status();
  if (recorder.started() > recorder.programs().size()) {
    std::printf(
        "of %s programs the first %s are shown\n",
        Thousands(static_cast<int64_t>(recorder.started())).c_str(),
        Thousands(static_cast<int64_t>(recorder.kMostPrograms)).c_str());
  }
  profile::Profile result;
  result.model = (*executable)->module().name;
  result.preset = *preset;
  result.programs.push_back(
      {&joined->program, &joined->recording, joined->analysis, joined->starts});
  RunStats sum;
  for (const RunStats& stats : recorder.stats()) sum.Add(stats);
  return finish(result, sum);
}

}  // namespace systole::tools
