// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/train_run.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/training/checkpoint.h"

namespace systole::tools {
namespace {

constexpr double kSecondsBetweenSaves = 30;

double Now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The fields of `from` that are not in `given`.
void TakeOver(const Recipe& from, const std::vector<std::string>& given,
              Recipe& to) {
  const auto take = [&](const char* name, auto Recipe::*field) {
    if (std::find(given.begin(), given.end(), name) == given.end())
      to.*field = from.*field;
  };
  take("preset", &Recipe::preset);
  take("steps", &Recipe::steps);
  take("batch", &Recipe::batch);
  take("optimiser", &Recipe::optimiser);
  take("rate", &Recipe::rate);
  take("momentum", &Recipe::momentum);
  take("seed", &Recipe::seed);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TrainRun>> TrainRun::Create(
    TrainOptions options) {
  std::unique_ptr<TrainRun> run(new TrainRun(std::move(options)));
  run->layers_ = training::DigitsLayers();
  TrainOptions& o = run->options_;
  if (o.resume.empty()) {
    if (absl::Status s = run->CheckRecipe(); !s.ok()) return s;
  }
  if (absl::Status s = run->ReadData(); !s.ok()) return s;
  if (!o.resume.empty()) {
    if (absl::Status s = run->Resume(); !s.ok()) return s;
    if (absl::Status s = run->CheckRecipe(); !s.ok()) return s;
  }
  run->history_.recipe = o.recipe;
  run->first_ = static_cast<int64_t>(run->history_.curve.size());
  if (o.save == o.resume) run->saved_step_ = run->first_;
  run->end_ = o.stop > 0 ? std::min(o.stop, o.recipe.steps) : o.recipe.steps;
  if (run->first_ >= run->end_) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s is after step %d already, the run ends at %d",
                        o.resume, run->first_, run->end_));
  }
  if (absl::Status s = run->OpenDevices(); !s.ok()) return s;
  run->order_ = std::make_unique<BatchOrder>(run->train_.count, o.recipe.seed);
  return run;
}

absl::Status TrainRun::CheckRecipe() const {
  const Recipe& recipe = options_.recipe;
  if (absl::Status s = recipe.Check(); !s.ok()) return s;
  const Preset* preset = FindPreset(recipe.preset);
  if (preset == nullptr) return absl::OkStatus();  // the device says it
  return training::CheckStep(layers_, recipe.Options(), *preset);
}

absl::Status TrainRun::ReadData() {
  auto train = ReadDigits(options_.digits, "train");
  if (!train.ok()) return train.status();
  train_ = *std::move(train);
  auto test = ReadDigits(options_.test_digits);
  if (!test.ok()) return test.status();
  const training::Layer& input = layers_.front();
  for (const Digits* digits : {&train_, &*test}) {
    if (digits->height != input.h || digits->width != input.w) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: digits of %d x %d, the network takes %d x %d",
          digits == &train_ ? options_.digits : options_.test_digits,
          digits->height, digits->width, input.h, input.w));
    }
  }
  if (options_.test_images < 0 || options_.test_images > test->count) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d test digits: %s has %d", options_.test_images,
                        options_.test_digits, test->count));
  }
  test_.pixels = std::move(test->pixels);
  test_.labels = std::move(test->labels);
  test_.pixels.resize(options_.test_images * input.h * input.w);
  test_.labels.resize(options_.test_images);
  options_.recipe.digits = Fingerprint(train_);
  return absl::OkStatus();
}

absl::Status TrainRun::Resume() {
  auto checkpoint = training::ReadCheckpoint(options_.resume, layers_);
  if (!checkpoint.ok()) return checkpoint.status();
  auto history = ParseHistory(checkpoint->description);
  if (!history.ok()) {
    return absl::Status(
        history.status().code(),
        absl::StrCat(options_.resume, ": ", history.status().message()));
  }
  TakeOver(history->recipe, options_.given, options_.recipe);
  const std::string text = Disagreement(history->recipe, options_.recipe);
  if (!text.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options_.resume, " belongs to another run: ", text));
  }
  history_ = *std::move(history);
  state_ = std::move(checkpoint->state);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Device>> TrainRun::OpenDevice(
    const std::string& backend) {
  DeviceOptions options;
  options.preset = options_.recipe.preset;
  const char* unit = backend == "rtl" ? "cycles" : "descriptors";
  options.stop = options_.overdue;
  const bool steps = backend == options_.backend;
  if (steps || backend == "rtl") {
    if (absl::Status s = SetWaves(options_.waves, backend, 1, options); !s.ok())
      return s;
  }
  options.progress = [this, unit](uint64_t count) {
    if (options_.progress) {
      options_.progress(Label(static_cast<int64_t>(history_.curve.size())),
                        count, unit);
    }
  };
  return Device::Open(backend, options);
}

absl::Status TrainRun::OpenDevices() {
  const auto open = [this](const std::string& backend,
                           std::unique_ptr<Device>& device,
                           std::unique_ptr<training::Trainer>& trainer) {
    auto opened = OpenDevice(backend);
    if (!opened.ok()) return opened.status();
    device = *std::move(opened);
    auto created = training::Trainer::Create(
        *device, layers_, options_.recipe.Options(), options_.recipe.seed);
    if (!created.ok()) return created.status();
    trainer = *std::move(created);
    return first_ > 0 ? trainer->WriteState(state_) : absl::OkStatus();
  };
  if (options_.compare == options_.backend) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the steps run on the %s: compare with the other backend",
        options_.compare));
  }
  absl::Status s = open(options_.backend, device_, trainer_);
  if (s.ok() && !options_.compare.empty())
    s = open(options_.compare, other_device_, other_);
  if (s.ok() && first_ == 0)
    state_ = training::InitialState(layers_, options_.recipe.seed);
  return s;
}

Batch TrainRun::BatchOf(int64_t step) {
  const int64_t size = int64_t{1} * train_.height * train_.width;
  Batch batch;
  for (int64_t index : order_->Batch(step, options_.recipe.batch)) {
    const auto image = train_.pixels.begin() + index * size;
    batch.pixels.insert(batch.pixels.end(), image, image + size);
    batch.labels.push_back(train_.labels[index]);
  }
  return batch;
}

bool TrainRun::Checked(int64_t step) const {
  if (options_.check != Check::kEnds) return options_.check == Check::kAll;
  return step < first_ + 2 || step >= end_ - 2;
}

std::string TrainRun::Label(int64_t step) const {
  std::string text =
      absl::StrFormat("step %d of %d", step + 1, options_.recipe.steps);
  const int64_t done = step - first_;
  if (done == 0) return text;
  const CurvePoint& last = history_.curve.back();
  const double a_step = (Now() - started_) / static_cast<double>(done);
  const auto left =
      static_cast<int64_t>(a_step * static_cast<double>(end_ - step));
  absl::StrAppendFormat(
      &text, ", loss %.4f, %.1f %% right, %.1f images a second, %d:%02d left",
      last.loss, 100 * last.right,
      static_cast<double>(options_.recipe.batch) / a_step, left / 60,
      left % 60);
  return text;
}

// The programs of this run: one a step, and one for each batch of a test.
int64_t TrainRun::Programs() const {
  const int64_t steps = end_ - first_, every = options_.eval_every;
  if (steps > std::numeric_limits<int>::max()) return steps;
  int64_t tests = every > 0 ? end_ / every - first_ / every : 0;
  if (every <= 0 || end_ % every != 0) ++tests;  // behind the last step
  const int64_t batch = options_.recipe.batch;
  return steps + tests * ((test_count() + batch - 1) / batch);
}

absl::Status TrainRun::Run() {
  if (absl::Status s = CheckTraceRun(options_.waves, Programs()); !s.ok())
    return s;
  started_ = saved_ = Now();
  for (int64_t step = first_; step < end_; ++step) {
    const absl::Status status = Step(step);
    const bool given_up = absl::IsCancelled(status);
    if (absl::IsDataLoss(status))  // somewhere in the step's program
      RecordWrong(*device_, device_->runs() - 1, step_cycles_);
    if (!status.ok() && !given_up) return WithWaveform(*device_, status);
    const bool last = step + 1 == end_;
    interrupted_ =
        given_up || (!last && options_.interrupted && options_.interrupted());
    if (last || interrupted_ || Now() - saved_ > kSecondsBetweenSaves) {
      if (absl::Status s = Save(); !s.ok()) return s;
    }
    if (interrupted_) break;
  }
  return absl::OkStatus();
}

absl::Status TrainRun::Step(int64_t step) {
  const double start = Now();
  const float rate = options_.recipe.Rate(step);
  const Batch batch = BatchOf(step);
  CounterValues counters = {};
  const auto outcome = [&](training::Trainer& trainer,
                           CurvePoint* point) -> absl::StatusOr<StepOutcome> {
    const auto report = trainer.Step(batch.pixels, batch.labels, rate);
    if (!report.ok()) return report.status();
    auto state = trainer.ReadState();
    if (!state.ok()) return state.status();
    if (point != nullptr) {
      point->cycles = static_cast<int64_t>(report->stats.cycles);
      counters = report->stats.counters;
    }
    return StepOutcome{report->loss, report->right, *std::move(state)};
  };
  CurvePoint point;
  point.step = step + 1;
  point.rate = rate;
  auto got = outcome(*trainer_, &point);
  if (!got.ok()) return got.status();
  step_cycles_ = static_cast<uint64_t>(point.cycles);
  point.loss = got->loss;
  point.right = got->right;
  if (other_) {
    const auto want = outcome(*other_, nullptr);
    if (!want.ok()) return want.status();
    if (absl::Status s =
            CompareSteps(layers_, step + 1, options_.backend.c_str(), *got,
                         options_.compare.c_str(), *want);
        !s.ok())
      return s;
    point.compared = true;
  }
  const auto give_up = [] { return absl::CancelledError("a step given up"); };
  if (Overdue()) return give_up();
  if (Checked(step)) {
    const auto want =
        GoldenStep(layers_, options_.recipe.Options(), rate,
                   static_cast<int>(device_->preset().rows), state_, batch);
    if (!want.ok()) return want.status();
    if (absl::Status s =
            CompareSteps(layers_, step + 1, options_.backend.c_str(), *got,
                         "the golden model", *want);
        !s.ok())
      return s;
    point.checked = true;
  }
  const bool last = step + 1 == end_;
  const bool due =
      options_.eval_every > 0 && (step + 1) % options_.eval_every == 0;
  if ((last || due) && test_count() > 0) {
    if (Overdue()) return give_up();
    if (absl::Status s = Test(point); !s.ok()) return s;
  }
  // A step that was given up has left everything as it was.
  for (int i = 0; i < csr::kNumCounters; ++i)
    totals_.counters[i] += counters[i];
  state_ = std::move(got->state);
  point.seconds = Now() - start;
  history_.curve.push_back(point);
  return absl::OkStatus();
}

absl::Status TrainRun::Test(CurvePoint& point) {
  const auto right = trainer_->CountRight(test_.pixels, test_.labels);
  if (!right.ok()) return right.status();
  point.test_right = *right;
  return absl::OkStatus();
}

absl::Status TrainRun::Save() {
  saved_ = Now();
  const auto step = static_cast<int64_t>(history_.curve.size());
  if (options_.save.empty() || step == saved_step_) return absl::OkStatus();
  saved_step_ = step;
  return training::WriteCheckpoint(options_.save, layers_,
                                   {Describe(history_), state_});
}

}  // namespace systole::tools
