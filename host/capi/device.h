// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What systole_device stands for: a core behind the driver (int8 presets), or a
// runtime's client with one device (bf16 presets).
#ifndef SYSTOLE_HOST_CAPI_DEVICE_H_
#define SYSTOLE_HOST_CAPI_DEVICE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "host/capi/handles.h"
#include "host/capi/program.h"
#include "host/profile/cores.h"
#include "host/profile/module_recorder.h"
#include "host/profile/profile.h"
#include "host/runtime/client.h"
#include "host/runtime/runner.h"
#include "systole.h"
#include "systole/device.h"

namespace systole::capi {

// An event with what its strings point to.
struct Event {
  systole_event event;
  std::string name;
};

// What a recorded run says.
struct Timeline {
  // What the profile reads, of StableHLO.
  std::unique_ptr<profile::Joined> joined;
  std::unique_ptr<profile::JoinedCores> joined_cores;
  profile::Profile profile;
  std::vector<systole_layer> layers;
  std::vector<Event> events;
  std::vector<int32_t> layer_cores, event_cores;  // of each of them
};

class Device {
 public:
  static absl::StatusOr<std::shared_ptr<Device>> Open(
      const systole_device_options& options);

  absl::Status Run(std::shared_ptr<const Program> program,
                   absl::Span<const systole_array> inputs,
                   absl::Span<const systole_array> outputs);

  // Of the last run. FailedPrecondition: there was none.
  absl::StatusOr<systole_run_stats> Stats();
  absl::Status Counters(absl::Span<uint64_t> values);
  // Calls `use` with the timeline. FailedPrecondition: none was recorded.
  template <typename Use>
  absl::Status WithTimeline(Use&& use) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (absl::Status s = MakeTimeline(); !s.ok()) return s;
    return use(*timeline_);
  }

 private:
  // Hands the samples on to the recorder of the program that is loaded.
  class Probe : public ProbeSink {
   public:
    void Sample(ProbeSample sample, uint64_t cycle) override {
      if (sink != nullptr) sink->Sample(sample, cycle);
    }
    void Command(const RowCommand& command) override {
      if (sink != nullptr) sink->Command(command);
    }
    ProbeSink* sink = nullptr;
  };

  absl::Status RunModel(absl::Span<const systole_array> inputs,
                        absl::Span<const systole_array> outputs);
  absl::Status RunModule(absl::Span<const systole_array> inputs,
                         absl::Span<const systole_array> outputs);
  absl::Status Use(std::shared_ptr<const Program> program);
  // Opens as many cores as the module needs, in place of those that there are.
  absl::Status OpenCores(const runtime::WholeProgram& module,
                         const std::string& name);
  void Forget();
  bool Interrupted();
  absl::Status MakeTimeline();
  absl::StatusOr<Timeline> TimelineOfModel();
  absl::StatusOr<Timeline> TimelineOfModule();
  absl::StatusOr<Timeline> TimelineOfCores();

  std::mutex mutex_;
  bool profiled_ = false;
  int (*interrupt_)(void*) = nullptr;
  void* user_ = nullptr;
  std::chrono::steady_clock::time_point asked_;

  Probe probe_;                                    // of a model's programs
  profile::ModuleRecorder modules_;                // of a module's
  std::unique_ptr<profile::CoresRecorder> cores_;  // of one on several cores
  std::unique_ptr<systole::Device> core_;
  std::unique_ptr<runtime::Client> client_;

  // A model in the core's memory.
  struct Loaded {
    std::shared_ptr<const Program> program;
    std::unique_ptr<runtime::Runner> runner;
    std::unique_ptr<profile::Recorder> recorder;
  };
  absl::StatusOr<runtime::BatchRun> RunBatch(
      const std::vector<ir::Literal>& inputs);

  std::unique_ptr<runtime::Loader> loader_;
  std::vector<std::unique_ptr<Loaded>> loaded_;  // the last used comes last

  // What the last call of Run had; a model's is the last of loaded_.
  std::shared_ptr<const Program> program_;
  runtime::Runner* runner_ = nullptr;
  profile::Recorder* recorder_ = nullptr;
  std::shared_ptr<runtime::Executable> executable_;

  // The last run.
  std::optional<systole_run_stats> stats_;
  RunStats sums_;
  std::vector<RunStats> runs_;  // of the last batch
  std::optional<Timeline> timeline_;
};

// All that are open.
Handles<Device, systole_device>& Devices();

}  // namespace systole::capi

#endif  // SYSTOLE_HOST_CAPI_DEVICE_H_
