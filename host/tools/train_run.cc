// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/train_run.h"

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/tools/train_checkpoint.h"

namespace systole::tools {
namespace {

using ir::Literal;

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
  take("steps", &Recipe::steps);
  take("rate", &Recipe::rate);
  take("seed", &Recipe::seed);
}

double ValueOf(const Literal& values, int64_t index) {
  return values.Visit([&](const auto& all) {
    using T = std::decay_t<decltype(all[index])>;
    if constexpr (std::is_integral_v<T>) {
      return static_cast<double>(all[index]);
    } else {
      return static_cast<double>(static_cast<float>(all[index]));
    }
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<TrainRun>> TrainRun::Create(
    TrainOptions options) {
  std::unique_ptr<TrainRun> run(new TrainRun(std::move(options)));
  TrainOptions& o = run->options_;
  if (o.resume.empty()) {
    if (absl::Status s = o.recipe.Check(); !s.ok()) return s;
  }
  if (o.compare == o.backend) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the steps run on the %s: compare with the other backend", o.compare));
  }
  auto program = ReadTrainProgram(o.program);
  if (!program.ok()) return program.status();
  run->program_ = *std::move(program);
  if (absl::Status s = run->ReadData(); !s.ok()) return s;
  if (!o.resume.empty()) {
    if (absl::Status s = run->Resume(); !s.ok()) return s;
    if (absl::Status s = o.recipe.Check(); !s.ok()) return s;
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
  run->order_ =
      std::make_unique<BatchOrder>(run->train_.count(), o.recipe.seed);
  return run;
}

absl::Status TrainRun::ReadData() {
  auto train = TrainData::Read(program_.step, options_.data);
  if (!train.ok()) return train.status();
  train_ = *std::move(train);
  options_.recipe.program = program_.digest;
  options_.recipe.data = train_.Digest();
  if (!options_.tested) return absl::OkStatus();
  if (!program_.evaluate) {
    return absl::NotFoundError(absl::StrCat(
        program_.folder,
        " has no evaluate.mlirbc, which a test needs; --test-images 0 runs "
        "without"));
  }
  auto test =
      TrainData::Read(*program_.evaluate, options_.test, options_.test_samples);
  if (!test.ok()) return test.status();
  test_ = *std::move(test);
  return absl::OkStatus();
}

absl::Status TrainRun::Resume() {
  auto checkpoint = ReadCheckpoint(options_.resume, program_.state);
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
        absl::StrCat(options_.resume, " belongs to another run: ", text,
                     "; what a checkpoint has need not be given"));
  }
  history_ = *std::move(history);
  first_state_ = std::move(checkpoint->state);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<TrainDevice>> TrainRun::OpenDevice(
    const std::string& backend) {
  runtime::ClientOptions options;
  options.backend = backend;
  options.preset = options_.preset;
  options.host_operators = options_.host_operators;
  const char* unit = backend == "rtl" ? "cycles" : "descriptors";
  options.device.stop = options_.overdue;
  if (backend == options_.backend || backend == "rtl") {
    if (absl::Status s = SetWaves(options_.waves, backend, 1, options.device);
        !s.ok())
      return s;
  }
  options.device.progress = [this, unit](uint64_t count) {
    if (options_.progress) {
      options_.progress(Label(static_cast<int64_t>(history_.curve.size())),
                        count, unit);
    }
  };
  auto device = TrainDevice::Create(program_, options);
  if (!device.ok()) return device;
  if (absl::Status s = (*device)->Write(first_state_); !s.ok()) return s;
  return device;
}

absl::Status TrainRun::OpenDevices() {
  if (first_ == 0) {
    auto state = InitialState(program_, options_.recipe.seed);
    if (!state.ok()) return state.status();
    first_state_ = *std::move(state);
  }
  auto device = OpenDevice(options_.backend);
  if (!device.ok()) return device.status();
  device_ = *std::move(device);
  if (options_.compare.empty()) return absl::OkStatus();
  device = OpenDevice(options_.compare);
  if (!device.ok()) return device.status();
  other_ = *std::move(device);
  return absl::OkStatus();
}

std::string TrainRun::placement() const {
  return runtime::PlacementText("step", device_->step().placement());
}

bool TrainRun::Checked(int64_t step) const {
  if (options_.check != Check::kEnds) return options_.check == Check::kAll;
  return step == first_ || step == end_ - 1;
}

std::string TrainRun::Label(int64_t step) const {
  std::string text =
      absl::StrFormat("step %d of %d", step + 1, options_.recipe.steps);
  const int64_t done = step - first_;
  if (done == 0) return text;
  const double a_step = (Now() - started_) / static_cast<double>(done);
  const auto left =
      static_cast<int64_t>(a_step * static_cast<double>(end_ - step));
  for (const auto& [name, value] : history_.curve.back().metrics)
    absl::StrAppendFormat(&text, ", %s %.4g", name, value);
  absl::StrAppendFormat(&text, ", %.1f samples a second, %d:%02d left",
                        static_cast<double>(program_.batch) / a_step, left / 60,
                        left % 60);
  return text;
}

absl::Status TrainRun::Run() {
  started_ = saved_ = Now();
  for (int64_t step = first_; step < end_; ++step) {
    const absl::Status status = Step(step);
    const bool given_up = absl::IsCancelled(status);
    if (absl::IsDataLoss(status)) device_->RecordWrong();
    if (!status.ok() && !given_up) return device_->WithWaveform(status);
    const bool last = step + 1 == end_;
    interrupted_ =
        given_up || (!last && options_.interrupted && options_.interrupted());
    if (last || interrupted_ || Now() - saved_ > kSecondsBetweenSaves) {
      if (absl::Status s = Save(); !s.ok()) return s;
    }
    if (interrupted_) return absl::OkStatus();
  }
  return CheckTraceRun(options_.waves, programs_);
}

absl::Status TrainRun::Step(int64_t step) {
  const double start = Now();
  CurvePoint point;
  point.step = step + 1;
  point.rate = options_.recipe.Rate(step);
  const std::vector<Literal> arguments =
      StepArguments(program_, train_, order_->Batch(step, program_.batch),
                    {options_.recipe.Rate(step), step, options_.recipe.seed});
  const bool checked = Checked(step);
  std::vector<Literal> before;
  if (checked) {
    auto state = device_->ReadState();
    if (!state.ok()) return state.status();
    before = *std::move(state);
  }
  StepOutcome got;
  (void)device_->TakeWork();
  auto values = device_->Step(arguments);
  if (!values.ok()) return values.status();
  // Gives up what is done already.
  const auto undone = [&](absl::Status status) {
    device_->Undo();
    if (other_) other_->Undo();
    return status;
  };
  const runtime::CoreWork work = device_->TakeWork();
  point.cycles = static_cast<int64_t>(work.stats.cycles);
  programs_ += work.programs;
  for (size_t i = 0; i < values->size(); ++i)
    point.metrics.emplace_back(program_.step.results[i],
                               ValueOf((*values)[i], 0));
  got.values = *std::move(values);
  if (checked || other_) {
    auto state = device_->ReadState();
    if (!state.ok()) return state.status();
    got.state = *std::move(state);
  }
  if (other_) {
    auto other = other_->Step(arguments);
    if (!other.ok()) {
      device_->Undo();
      return other.status();
    }
    auto state = other_->ReadState();
    if (!state.ok()) return undone(state.status());
    if (absl::Status s = CompareSteps(program_, step + 1, options_.backend, got,
                                      options_.compare,
                                      {*std::move(state), *std::move(other)});
        !s.ok())
      return undone(s);
    point.compared = true;
  }
  if (Overdue()) return undone(absl::CancelledError("a step given up"));
  if (checked) {
    const auto want = GoldenStep(program_, std::move(before), arguments);
    if (!want.ok()) return undone(want.status());
    if (absl::Status s = CompareSteps(program_, step + 1, options_.backend, got,
                                      "the golden model", *want);
        !s.ok())
      return undone(s);
    point.checked = true;
  }
  const bool last = step + 1 == end_;
  const bool due =
      options_.eval_every > 0 && (step + 1) % options_.eval_every == 0;
  if ((last || due) && test_) {
    auto test = Test();
    if (!test.ok()) return undone(test.status());
    point.test = *std::move(test);
  }
  for (int i = 0; i < csr::kNumCounters; ++i)
    totals_.counters[i] += work.stats.counters[i];
  point.seconds = Now() - start;
  history_.curve.push_back(std::move(point));
  return absl::OkStatus();
}

// Means over all samples. The places of the last batch that are left over have
// the first samples again, which do not count.
absl::StatusOr<Metrics> TrainRun::Test() {
  const TrainModule& evaluate = *program_.evaluate;
  Metrics means;
  for (const std::string& name : evaluate.results)
    means.emplace_back(name, 0.0);
  const int64_t batch = evaluate.arguments[0].type.shape[0];
  for (int64_t first = 0; first < test_->count(); first += batch) {
    std::vector<int64_t> samples(batch);
    for (int64_t i = 0; i < batch; ++i)
      samples[i] = first + i < test_->count() ? first + i : i % test_->count();
    std::vector<Literal> arguments;
    for (const TrainArgument& argument : evaluate.arguments)
      arguments.push_back(test_->Batch(argument, samples));
    const auto results = device_->Evaluate(std::move(arguments));
    if (!results.ok()) return results.status();
    for (size_t i = 0; i < means.size(); ++i) {
      for (int64_t n = 0; n < std::min(batch, test_->count() - first); ++n)
        means[i].second += ValueOf((*results)[i], n);
    }
    if (Overdue()) return absl::CancelledError("a test given up");
  }
  programs_ += device_->TakeWork().programs;
  for (auto& [name, mean] : means) mean /= static_cast<double>(test_->count());
  return means;
}

absl::Status TrainRun::Save() {
  saved_ = Now();
  const auto step = static_cast<int64_t>(history_.curve.size());
  if (options_.save.empty() || step == saved_step_) return absl::OkStatus();
  auto state = device_->ReadState();
  if (!state.ok()) return state.status();
  saved_step_ = step;
  return WriteCheckpoint(options_.save, program_.state,
                         {Describe(history_), *std::move(state)});
}

}  // namespace systole::tools
