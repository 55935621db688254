// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What a device recorded, as systole.h tells it.
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/capi/device.h"
#include "host/compiler/access.h"
#include "host/files/shell_word.h"

namespace systole::capi {
namespace {

// Of descriptors whose completion was recorded. layer(tag): its index.
template <typename LayerOf>
void AppendEvents(const systole::Program& program,
                  const profile::Recording& recording, int32_t number,
                  LayerOf&& layer, std::vector<Event>& events) {
  for (size_t d = 0; d < program.descriptors.size(); ++d) {
    const profile::DescriptorTimes& times = recording.descriptors[d];
    const auto queue =
        static_cast<int>(compiler::QueueOf(program.descriptors[d]));
    if (queue >= kProbedQueues || times.end == 0) continue;
    Event event{{}, profile::NameOf(program, d)};
    event.event.unit = profile::UnitName(static_cast<profile::Unit>(queue));
    event.event.program = number;
    event.event.layer = layer(compiler::TagOf(program.descriptors[d]));
    event.event.descriptor = static_cast<uint32_t>(d);
    event.event.head = times.head;
    event.event.start = times.start;
    event.event.end = times.end;
    events.push_back(std::move(event));
  }
}

absl::Status NothingRan(const Program& program) {
  return absl::FailedPreconditionError(absl::StrCat(
      program.name(), ": no part of it ran on the core: nothing to profile"));
}

std::string CommandOf(const Program& program, const Preset& preset,
                      int devices) {
  return absl::StrCat("systole run ", ShellWord(program.source()),
                      " --random 1 --preset ", std::string(preset.name),
                      devices > 1 ? absl::StrCat(" --devices ", devices) : "");
}

// A core's programs, which were joined.
void AppendCore(const profile::Joined& joined,
                profile::ModuleRecorder& recorder, Timeline& timeline) {
  timeline.profile.programs.push_back(
      {&joined.program, &joined.recording, joined.analysis, joined.starts});
  size_t next = 0;  // of the joined layers
  for (size_t i = 0; i < joined.starts.size(); ++i) {
    const auto number = static_cast<int32_t>(i);
    const systole::Program& program = recorder.programs()[i];
    const auto first = static_cast<int32_t>(timeline.layers.size());
    AppendEvents(
        program, recorder.recordings()[i], number,
        [&](int tag) { return tag >= 0 ? first + tag : -1; }, timeline.events);
    for (size_t l = 0; l < program.layers.size(); ++l, ++next) {
      const LayerInfo& layer = joined.program.layers[next];
      timeline.layers.push_back({layer.name.c_str(), layer.op.c_str(), number,
                                 joined.analysis.layers[next].cycles,
                                 layer.macs});
    }
  }
}

}  // namespace

absl::StatusOr<Timeline> Device::TimelineOfModel() {
  Timeline timeline;
  profile::Profile& profile = timeline.profile;
  profile.model = program_->name();
  profile.preset = &core_->preset();
  const runtime::CompiledModel& model = *program_->model();
  profile.command = absl::StrCat("systole run ", ShellWord(program_->source()),
                                 " --random ", model.batch());
  for (size_t i = 0; i < model.programs.size(); ++i) {
    const systole::Program& program = model.programs[i];
    const profile::Recording& recording = recorder_->recordings()[i];
    if (absl::Status s =
            profile::CheckRecording(recording, *profile.preset, runs_[i]);
        !s.ok())
      return s;
    profile.programs.push_back(
        {&program, &recording, profile::Analyse(program, recording)});
    const auto first_layer = static_cast<int32_t>(timeline.layers.size());
    AppendEvents(
        program, recording, static_cast<int32_t>(i),
        [&](int tag) {
          return tag >= 0 && tag < static_cast<int>(program.layers.size())
                     ? first_layer + tag
                     : -1;
        },
        timeline.events);
    for (size_t l = 0; l < program.layers.size(); ++l) {
      const LayerInfo& layer = program.layers[l];
      timeline.layers.push_back(
          {layer.name.c_str(), layer.op.c_str(), static_cast<int32_t>(i),
           profile.programs.back().analysis.layers[l].cycles, layer.macs});
    }
  }
  return timeline;
}

// Each kernel of the programs is a layer.
absl::StatusOr<Timeline> Device::TimelineOfModule() {
  const Preset& preset = client_->preset();
  if (modules_.programs().empty()) return NothingRan(*program_);
  absl::StatusOr<profile::Joined> joined = modules_.Join(preset);
  if (!joined.ok()) return joined.status();
  Timeline timeline;
  timeline.joined = std::make_unique<profile::Joined>(*std::move(joined));
  profile::Profile& profile = timeline.profile;
  profile.model = program_->name();
  profile.preset = &preset;
  profile.command = CommandOf(*program_, preset, 1);
  AppendCore(*timeline.joined, modules_, timeline);
  return timeline;
}

absl::StatusOr<Timeline> Device::TimelineOfCores() {
  if (cores_->started() == 0) return NothingRan(*program_);
  absl::StatusOr<profile::JoinedCores> joined = cores_->Join();
  if (!joined.ok()) return joined.status();
  Timeline timeline;
  timeline.joined_cores =
      std::make_unique<profile::JoinedCores>(*std::move(joined));
  profile::Profile& profile = timeline.profile;
  profile.model = program_->name();
  profile.preset = &client_->preset();
  profile.command = CommandOf(*program_, client_->preset(), client_->devices());
  profile.cores = timeline.joined_cores.get();
  for (size_t c = 0; c < profile.cores->cores.size(); ++c) {
    AppendCore(profile.cores->cores[c], cores_->of_core(c), timeline);
    timeline.layer_cores.resize(timeline.layers.size(),
                                static_cast<int32_t>(c));
    timeline.event_cores.resize(timeline.events.size(),
                                static_cast<int32_t>(c));
  }
  return timeline;
}

}  // namespace systole::capi
