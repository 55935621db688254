// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A training run: steps on a device, in lockstep with another one and with the
// golden model, with checkpoints.
//
//   auto run = TrainRun::Create(options);
//   absl::Status status = (*run)->Run();
//   (*run)->history();
#ifndef HOST_TOOLS_TRAIN_RUN_H_
#define HOST_TOOLS_TRAIN_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/tools/train_data.h"
#include "host/tools/train_device.h"
#include "host/tools/train_history.h"
#include "host/tools/train_program.h"
#include "host/tools/waves.h"
#include "systole/device.h"

namespace systole::tools {

// Which steps the golden model repeats: none, the first and last of the run,
// all.
enum class Check { kNone, kEnds, kAll };

struct TrainOptions {
  std::string program;  // folder
  Recipe recipe;
  // Given by hand: a checkpoint that says something else is an error. What is
  // not given comes from the checkpoint.
  std::vector<std::string> given;
  std::string backend = "iss", preset = "lite";
  std::string compare;  // the backend of the second device; empty: none
  Check check = Check::kEnds;
  DataPlaces data, test;
  std::string save, resume;  // checkpoints
  WaveArgs waves;
  int64_t stop = 0;  // end after this step; 0: the last one
  bool tested = true;
  int64_t test_samples = 0;  // the first ones; 0: all
  int64_t eval_every = 0;    // steps; 0: at the end only
  bool host_operators = true;
  // Called now and then: a line of text, and how many of what (cycles or
  // descriptors) of the running step.
  std::function<void(const std::string&, uint64_t, const char*)> progress;
  // Asked after each step: true ends the run there. Asked within a step: true
  // gives the step up, as if it had not begun.
  std::function<bool()> interrupted, overdue;
};

class TrainRun {
 public:
  // kInvalidArgument, kNotFound, kDataLoss name the option or the file.
  static absl::StatusOr<std::unique_ptr<TrainRun>> Create(TrainOptions options);

  // All steps, or fewer when they are interrupted. kDataLoss names the first
  // value that is not what the golden model or the other backend has; the
  // checkpoint is then of a step before.
  absl::Status Run();
  bool interrupted() const { return interrupted_; }

  const History& history() const { return history_; }
  const TrainOptions& options() const { return options_; }
  const TrainProgram& program() const { return program_; }
  // The counters of this run's steps, summed.
  const RunStats& totals() const { return totals_; }
  int64_t train_count() const { return train_.count(); }
  int64_t test_count() const { return test_ ? test_->count() : 0; }
  // Where the operations of a step run: runtime::PlacementText.
  std::string placement() const;

 private:
  explicit TrainRun(TrainOptions options) : options_(std::move(options)) {}
  absl::Status ReadData();
  absl::Status Resume();
  absl::Status OpenDevices();
  absl::StatusOr<std::unique_ptr<TrainDevice>> OpenDevice(
      const std::string& backend);
  absl::Status Step(int64_t step);
  absl::StatusOr<Metrics> Test();
  absl::Status Save();
  bool Overdue() const { return options_.overdue && options_.overdue(); }
  bool Checked(int64_t step) const;
  std::string Label(int64_t step) const;

  TrainOptions options_;
  TrainProgram program_;
  TrainData train_;
  std::optional<TrainData> test_;
  std::unique_ptr<BatchOrder> order_;
  std::unique_ptr<TrainDevice> device_, other_;
  std::vector<ir::Literal> first_state_;  // that this run starts from
  History history_;
  RunStats totals_;
  int64_t first_ = 0, end_ = 0;  // steps of this run, counted from 0
  int64_t saved_step_ = 0;       // of the checkpoint
  int64_t programs_ = 0;         // of the device, in this run
  bool interrupted_ = false;
  double started_ = 0, saved_ = 0;
};

// What a step leaves: the state, and the values behind it.
struct StepOutcome {
  std::vector<ir::Literal> state, values;
};

// By the golden model: the step's module on a state and what follows it.
absl::StatusOr<StepOutcome> GoldenStep(
    const TrainProgram& program, std::vector<ir::Literal> state,
    const std::vector<ir::Literal>& arguments);

// kDataLoss names the first value whose bits differ: "step 3: rtl and iss
// differ: conv1.weights[5] is ... instead of ...; 12 of 2086448 values differ".
absl::Status CompareSteps(const TrainProgram& program, int64_t step,
                          const std::string& got_name, const StepOutcome& got,
                          const std::string& want_name,
                          const StepOutcome& want);

}  // namespace systole::tools

#endif  // HOST_TOOLS_TRAIN_RUN_H_
