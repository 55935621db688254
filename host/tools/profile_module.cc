// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/profile_module.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/profile/join.h"
#include "host/tools/interrupt.h"
#include "host/tools/module_file.h"
#include "host/tools/report.h"

namespace systole::tools {
namespace {

// What a page can hold: of more, the first are recorded.
constexpr size_t kMostRecorded = 2000;

// Listens to each program as a recorder wants it.
class ProgramRecorder : public runtime::CoreListener, public ProbeSink {
 public:
  void Starts(const runtime::ProgramStart& start) override {
    ++started_;
    if (programs_.size() == kMostRecorded) return;
    programs_.push_back(start.program);
    recorder_.Append(&programs_.back());
    LayerInfo layer;
    layer.name = start.name;
    layer.op = start.unit;
    layer.shape = start.shape;
    layer.macs = start.macs;
    layers_.push_back(std::move(layer));
  }
  void Ended(const RunStats& stats) override {
    if (stats_.size() < programs_.size()) stats_.push_back(stats);
  }
  void Sample(ProbeSample sample) override {
    if (started_ <= kMostRecorded || sample.running() == 0)
      recorder_.Sample(sample);
  }
  void Command(const RowCommand& command) override {
    if (started_ <= kMostRecorded) recorder_.Command(command);
  }

  size_t started() const { return started_; }
  const std::deque<Program>& programs() const { return programs_; }
  const std::vector<RunStats>& stats() const { return stats_; }

  absl::StatusOr<profile::Joined> Joined(const Preset& preset) {
    std::vector<profile::Piece> pieces;
    for (size_t i = 0; i < programs_.size(); ++i) {
      const profile::Recording& recording = recorder_.recordings()[i];
      if (absl::Status s =
              profile::CheckRecording(recording, preset, stats_[i]);
          !s.ok())
        return s;
      pieces.push_back({&programs_[i], &recording, layers_[i]});
    }
    return profile::Join(pieces);
  }

 private:
  profile::Recorder recorder_{{}};
  std::deque<Program> programs_;  // where they are, though more come
  std::vector<LayerInfo> layers_;
  std::vector<RunStats> stats_;
  size_t started_ = 0;
};

}  // namespace

absl::Status ProfileStableHlo(const RunArgs& args,
                              const std::function<absl::Status()>& check_files,
                              const FinishProfile& finish) {
  if (args.batch) {
    return absl::InvalidArgumentError(
        absl::StrCat(args.model, ": --batch has no effect on StableHLO"));
  }
  const auto preset = ModulePreset(args.preset, args.preset_given);
  if (!preset.ok()) return preset.status();
  auto module = ReadStableHlo(args.model);
  if (!module.ok()) return module.status();
  if (absl::Status s = check_files(); !s.ok()) return s;

  ProgramRecorder recorder;
  Progress progress(args.quiet);
  progress.set_label(args.model);
  runtime::ClientOptions options;
  options.backend = args.backend;
  options.preset = std::string((*preset)->name);
  options.listener = &recorder;
  auto device = DeviceOptionsOf(args, options.preset, progress, 1);
  if (!device.ok()) return device.status();
  options.device = *std::move(device);
  options.device.probe = &recorder;
  auto client = runtime::Client::Create(options);
  if (!client.ok()) return client.status();
  std::vector<ir::Literal> inputs;
  for (const ir::Node* input : (*module)->inputs())
    inputs.push_back(RandomOf(input->type, args.seed + inputs.size()));
  auto executable = (*client)->Compile(*std::move(module));
  if (!executable.ok()) return executable.status();
  const auto outputs = RunOnce(**executable, (*client)->device(0), inputs);
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
  const auto joined = recorder.Joined(**preset);
  if (!joined.ok()) return joined.status();
  if (recorder.started() > recorder.programs().size()) {
    std::printf("of %s programs the first %s are shown\n",
                Thousands(static_cast<int64_t>(recorder.started())).c_str(),
                Thousands(static_cast<int64_t>(kMostRecorded)).c_str());
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
