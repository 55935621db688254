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
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/tools/train_check.h"
#include "host/tools/train_recipe.h"
#include "host/tools/waves.h"
#include "host/training/trainer.h"
#include "systole/device.h"

namespace systole::tools {

// Which steps the golden model repeats: none, the first and last two of the
// run, all.
enum class Check { kNone, kEnds, kAll };

struct TrainOptions {
  Recipe recipe;
  // Given by hand: a checkpoint that says something else is an error. What is
  // not given comes from the checkpoint.
  std::vector<std::string> given;
  std::string backend = "iss";
  std::string compare;  // the backend of the second device; empty: none
  Check check = Check::kEnds;
  std::string digits, test_digits;  // folders
  std::string save, resume;         // checkpoints
  WaveArgs waves;
  int64_t stop = 0;  // end after this step; 0: the last one
  int64_t test_images = 0;
  int64_t eval_every = 0;  // steps; 0: at the end only
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
  // The counters of this run's steps, summed.
  const RunStats& totals() const { return totals_; }
  int64_t test_count() const {
    return static_cast<int64_t>(test_.labels.size());
  }
  int64_t train_count() const { return train_.count; }

 private:
  explicit TrainRun(TrainOptions options) : options_(std::move(options)) {}
  absl::Status CheckRecipe() const;
  absl::Status ReadData();
  absl::Status Resume();
  absl::StatusOr<std::unique_ptr<Device>> OpenDevice(
      const std::string& backend);
  absl::Status OpenDevices();
  int64_t Programs() const;
  absl::Status Step(int64_t step);
  absl::Status Test(CurvePoint& point);
  absl::Status Save();
  bool Overdue() const { return options_.overdue && options_.overdue(); }
  Batch BatchOf(int64_t step);
  bool Checked(int64_t step) const;
  std::string Label(int64_t step) const;

  TrainOptions options_;
  std::vector<training::Layer> layers_;
  Digits train_;
  Batch test_;
  std::unique_ptr<BatchOrder> order_;
  uint64_t step_cycles_ = 0;  // of the last step
  std::unique_ptr<Device> device_, other_device_;
  std::unique_ptr<training::Trainer> trainer_, other_;
  training::TrainState state_;  // after the last step
  History history_;
  RunStats totals_;
  int64_t first_ = 0, end_ = 0;  // steps of this run, counted from 0
  int64_t saved_step_ = 0;       // of the checkpoint
  bool interrupted_ = false;
  double started_ = 0, saved_ = 0;
};

}  // namespace systole::tools

#endif  // HOST_TOOLS_TRAIN_RUN_H_
