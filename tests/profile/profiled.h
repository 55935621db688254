// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a program on the RTL with the recorder.
#ifndef TESTS_PROFILE_PROFILED_H_
#define TESTS_PROFILE_PROFILED_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "host/profile/analysis.h"
#include "systole/device.h"

namespace systole::profile {

struct Profiled {
  RunStats stats;
  Recording recording;
  Analysis analysis;

  uint64_t Total(Unit unit, Cause cause) const {
    return recording.totals[static_cast<int>(unit)][static_cast<int>(cause)];
  }
  // Cycles of the program that a unit is at the end of the chain of.
  uint64_t Behind(Unit root) const {
    uint64_t cycles = 0;
    for (const Finding& f : analysis.findings)
      if (f.root_unit == root) cycles += f.cycles;
    return cycles;
  }
};

// Memory and unified buffer keep what a program before left there.
class Bench {
 public:
  explicit Bench(const std::string& preset, int stall_rate = 0) {
    DeviceOptions options;
    options.preset = preset;
    options.simulation.stall_rate = stall_rate;
    options.simulation.probes = {&relay_};
    device_ = Device::Open("rtl", options);
  }

  absl::StatusOr<Profiled> Run(const Program& program) {
    if (!device_.ok()) return device_.status();
    Recorder recorder({&program});
    relay_.to = &recorder;
    auto stats = (*device_)->Run(program);
    relay_.to = nullptr;
    if (!stats.ok()) return stats.status();
    Profiled run{*std::move(stats), recorder.recordings()[0], {}};
    if (absl::Status s =
            CheckRecording(run.recording, (*device_)->preset(), run.stats);
        !s.ok())
      return s;
    run.analysis = Analyse(program, run.recording);
    return run;
  }

 private:
  struct Relay : ProbeSink {
    ProbeSink* to = nullptr;
    void Sample(ProbeSample sample, uint64_t cycle) override {
      if (to != nullptr) to->Sample(sample, cycle);
    }
  };
  Relay relay_;
  absl::StatusOr<std::unique_ptr<Device>> device_;
};

}  // namespace systole::profile

#endif  // TESTS_PROFILE_PROFILED_H_
