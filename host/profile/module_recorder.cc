// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/profile/module_recorder.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace systole::profile {

void ModuleRecorder::Begin() {
  recorder_ =
      std::make_unique<Recorder>(std::vector<const systole::Program*>());
  programs_.clear();
  stats_.clear();
  rounds_.clear();
  missed_ = kNone;
  if (!links_.empty()) links_ = {links_.back()};
  started_ = 0;
}

void ModuleRecorder::Starts(const systole::Program& program) {
  ++started_;
  if (programs_.size() == most_) return;
  programs_.push_back(program);
  recorder_->Append(&programs_.back());
}

void ModuleRecorder::Round(int64_t round, bool exchanges) {
  if (started_ == programs_.size()) {
    rounds_.push_back({round, exchanges});
  } else {
    missed_ = std::min(missed_, round);
  }
}

void ModuleRecorder::Ended(const RunStats& stats) {
  if (stats_.size() < programs_.size()) stats_.push_back(stats);
}

void ModuleRecorder::Sample(ProbeSample sample, uint64_t cycle) {
  if (started_ <= most_ || sample.running() == 0)
    recorder_->Sample(sample, cycle);
}

void ModuleRecorder::Command(const RowCommand& command) {
  if (started_ <= most_) recorder_->Command(command);
}

void ModuleRecorder::Links(const ChipLinkCounts& counts, uint64_t cycle) {
  if (links_.empty() ||
      std::memcmp(&links_.back().counts, &counts, sizeof counts) != 0)
    links_.push_back({cycle, counts});
}

absl::StatusOr<Joined> ModuleRecorder::Join(const Preset& preset) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < programs_.size(); ++i) {
    const Recording& recording = recorder_->recordings()[i];
    if (absl::Status s = CheckRecording(recording, preset, stats_[i]); !s.ok())
      return s;
    pieces.push_back({&programs_[i], &recording});
  }
  return systole::profile::Join(pieces);
}

}  // namespace systole::profile
