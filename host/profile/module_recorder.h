// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Records the programs of a StableHLO module's run on a core, of one or more
// kernels each.
//
//   ModuleRecorder recorder;
//   client_options.listener = &recorder;
//   client_options.device.simulation.probes = {&recorder};
//   recorder.Begin();
//   ... a run ...
//   recorder.Join(preset);
#ifndef SYSTOLE_HOST_PROFILE_MODULE_RECORDER_H_
#define SYSTOLE_HOST_PROFILE_MODULE_RECORDER_H_

#include <cstddef>
#include <deque>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "host/profile/join.h"
#include "host/profile/recorder.h"
#include "host/runtime/core.h"

namespace systole::profile {

class ModuleRecorder : public runtime::CoreListener, public ProbeSink {
 public:
  // What a page can hold: of a run with more programs, the first are recorded.
  static constexpr size_t kMostPrograms = 2000;

  explicit ModuleRecorder(size_t most = kMostPrograms) : most_(most) {}

  // Forgets the run before. Not while one is under way.
  void Begin();

  void Starts(const systole::Program& program) override;
  void Round(int64_t round, bool exchanges) override;
  void Ended(const RunStats& stats) override;
  void Sample(ProbeSample sample, uint64_t cycle) override;
  void Command(const RowCommand& command) override;
  void Links(const ChipLinkCounts& counts, uint64_t cycle) override;

  // Since Begin(), recorded or not.
  size_t started() const { return started_; }
  const std::deque<systole::Program>& programs() const { return programs_; }
  const std::vector<RunStats>& stats() const { return stats_; }
  const std::deque<Recording>& recordings() { return recorder_->recordings(); }
  // All of them as one program, of which each kernel is a layer. kInternal: a
  // recording does not agree with the RTL's counters.
  absl::StatusOr<Joined> Join(const Preset& preset);

  // Of a board's core: the set of programs that each is one of, and the first
  // set whose program is not recorded.
  struct OfRound {
    int64_t round = 0;
    bool exchanges = false;
  };
  const std::vector<OfRound>& rounds() const { return rounds_; }
  int64_t missed() const { return missed_; }
  // The counters of its chip's links where they have changed, in the order of
  // cycles of the device.
  struct LinkSample {
    uint64_t cycle = 0;
    ChipLinkCounts counts;
  };
  const std::vector<LinkSample>& links() const { return links_; }

 private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

  const size_t most_;
  std::deque<systole::Program> programs_;  // where they are, though more come
  std::vector<RunStats> stats_;
  std::vector<OfRound> rounds_;
  int64_t missed_ = kNone;
  std::vector<LinkSample> links_;
  size_t started_ = 0;
  std::unique_ptr<Recorder> recorder_ =
      std::make_unique<Recorder>(std::vector<const systole::Program*>());
};

}  // namespace systole::profile

#endif  // SYSTOLE_HOST_PROFILE_MODULE_RECORDER_H_
