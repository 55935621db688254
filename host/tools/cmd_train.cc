// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// train: the steps of a StableHLO training, on a device (docs/training.md).
#include <errno.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/files/data_file.h"
#include "host/files/printable.h"
#include "host/files/shell_word.h"
#include "host/files/write_file.h"
#include "host/tools/commands.h"
#include "host/tools/interrupt.h"
#include "host/tools/options.h"
#include "host/tools/report.h"
#include "host/tools/train_run.h"

namespace systole::tools {
namespace {

constexpr int64_t kTableRows = 24;
constexpr char kRight[] = "right";  // the result of a test that --goal is for
struct TrainArgs {
  TrainOptions train;
  std::string check = "auto", compare = "none",
              reports = ResultPlace("build/reports", ""),
              host_operators = "allow";
  int64_t test_samples = -1, eval_every = -1;
  double goal = 0;
  bool json = false, quiet = false;
  std::string to_resume;  // a command that lacks the checkpoint
};
struct Counts {
  int64_t steps = 0, checked = 0, compared = 0, cycles = 0;
  double seconds = 0;
};

Counts Count(const std::vector<CurvePoint>& curve) {
  Counts counts;
  for (const CurvePoint& p : curve) {
    ++counts.steps;
    counts.checked += p.checked ? 1 : 0;
    counts.compared += p.compared ? 1 : 0;
    counts.cycles += p.cycles;
    counts.seconds += p.seconds;
  }
  return counts;
}

const double* Find(const Metrics& metrics, const std::string& name) {
  const auto found =
      std::find_if(metrics.begin(), metrics.end(),
                   [&](const auto& metric) { return metric.first == name; });
  return found == metrics.end() ? nullptr : &found->second;
}

nlohmann::ordered_json Report(const TrainRun& run) {
  const History& history = run.history();
  const Counts counts = Count(history.curve);
  const CurvePoint& last = history.curve.back();
  const TrainOptions& options = run.options();
  nlohmann::ordered_json j = {{"program", options.program},
                              {"preset", options.preset},
                              {"backend", options.backend},
                              {"batch", run.program().batch}};
  j.update({{"recipe", history.recipe.ToJson()}});
  j["train_samples"] = run.train_count();
  j["test_samples"] = run.test_count();
  j["steps_done"] = last.step;
  j["checked_by_golden"] = counts.checked;
  j["compared_with"] = options.compare.empty()
                           ? nlohmann::ordered_json(nullptr)
                           : nlohmann::ordered_json(options.compare);
  j["compared"] = counts.compared;
  j["seconds"] = counts.seconds;
  j["cycles"] = counts.cycles;
  j["placement"] = run.placement();
  j["curve"] = ToJson(history.curve);
  j["test"] = j["curve"].back()["test"];
  return j;
}

// Rows of the table hold several steps where there are many: means over them.
void PrintCurve(const TrainRun& run) {
  const std::vector<CurvePoint>& curve = run.history().curve;
  const auto count = static_cast<int64_t>(curve.size());
  const int64_t group = (count + kTableRows - 1) / kTableRows;
  std::vector<std::string> head = {"step", "rate"};
  const std::vector<std::string>& metrics = run.program().step.results;
  head.insert(head.end(), metrics.begin(), metrics.end());
  head.push_back("cycles");
  std::vector<std::string> tests;
  if (run.test_count() > 0) tests = run.program().evaluate->results;
  for (const std::string& name : tests)
    head.push_back(absl::StrCat("test ", name));
  Table table(head);
  for (int64_t first = 0; first < count; first += group) {
    const int64_t end = std::min(first + group, count), n = end - first;
    const auto mean = [&](const auto& of) {
      double sum = 0;
      for (int64_t i = first; i < end; ++i)
        sum += of(curve[i]) / static_cast<double>(n);
      return sum;
    };
    std::vector<std::string> row = {
        n == 1 ? absl::StrFormat("%d", end)
               : absl::StrFormat("%d to %d", first + 1, end),
        absl::StrFormat("%.5f", curve[first].rate)};
    for (size_t m = 0; m < metrics.size(); ++m) {
      row.push_back(absl::StrFormat("%.4f", mean([&](const CurvePoint& p) {
                                      return p.metrics[m].second;
                                    })));
    }
    const auto cycles = static_cast<int64_t>(mean(
        [](const CurvePoint& p) { return static_cast<double>(p.cycles); }));
    row.push_back(cycles > 0 ? Thousands(cycles) : "-");
    for (const std::string& name : tests) {
      std::string text = "-";
      for (int64_t i = first; i < end; ++i) {
        if (const double* value = Find(curve[i].test, name))
          text = absl::StrFormat("%.4f", *value);
      }
      row.push_back(text);
    }
    table.Add(row);
  }
  std::printf("%s\n", table.ToString().c_str());
}

void Print(const TrainRun& run) {
  const Recipe& recipe = run.history().recipe;
  const TrainOptions& options = run.options();
  const Counts counts = Count(run.history().curve);
  const CurvePoint& last = run.history().curve.back();
  const int64_t batch = run.program().batch;
  std::printf(
      "%s on %s, %s: %d of %d steps of %d samples, rate %g falling to 0, seed "
      "%u\n\n",
      Printable(options.program).c_str(), options.backend.c_str(),
      options.preset.c_str(), static_cast<int>(last.step),
      static_cast<int>(recipe.steps), static_cast<int>(batch), recipe.rate,
      recipe.seed);
  PrintCurve(run);
  if (const double* right = Find(last.test, kRight)) {
    std::printf("test:          %.2f %% of %s samples right\n", 100 * *right,
                Thousands(run.test_count()).c_str());
  }
  if (counts.checked > 0) {
    std::printf("golden model:  %s of %s steps, every value equal\n",
                Thousands(counts.checked).c_str(),
                Thousands(counts.steps).c_str());
  }
  if (counts.compared > 0) {
    std::printf(
        "lockstep:      %s of %s steps, every value equal to the %s's\n",
        Thousands(counts.compared).c_str(), Thousands(counts.steps).c_str(),
        options.compare.c_str());
  }
  std::printf(
      "time:          %.1f s, %.1f samples a second%s\n", counts.seconds,
      static_cast<double>(counts.steps * batch) /
          std::max(counts.seconds, 1e-9),
      counts.cycles > 0
          ? absl::StrFormat(", %s cycles", Thousands(counts.cycles)).c_str()
          : "");
  std::printf("placement:     %s\n", Printable(run.placement()).c_str());
  std::printf("values:        %s\n", SpecialValues(run.totals()).c_str());
  std::printf("checkpoint:    %s\n",
              options.save.empty() ? "none; --save FILE keeps what was learnt"
                                   : Printable(options.save).c_str());
}

// The command as it was given, without what the checkpoint knows.
std::string CommandToResume(const CLI::App& sub,
                            const std::vector<std::string>& in_checkpoint) {
  std::string text =
      absl::StrCat(ShellWord(program_invocation_name), " ", sub.get_name());
  for (const CLI::Option* option : sub.get_options()) {
    const std::string name = option->get_single_name();
    if (option->get_positional() && option->count() > 0) {
      absl::StrAppend(&text, " ", ShellWord(option->results()[0]));
      continue;
    }
    if (option->count() == 0 || name == "save" || name == "resume" ||
        std::find(in_checkpoint.begin(), in_checkpoint.end(), name) !=
            in_checkpoint.end())
      continue;
    absl::StrAppend(&text, " --", name);
    if (option->get_expected_min() == 0) continue;  // a flag
    for (const std::string& value : option->results())
      absl::StrAppend(&text, " ", ShellWord(value));
  }
  return text;
}

// What is left of a run that a signal has stopped.
absl::Status Stopped(const TrainRun& run, const std::string& to_resume) {
  const History& history = run.history();
  const std::string& file = run.options().save;
  if (history.curve.empty())
    return InterruptedError("before the end of the first step");
  const std::string where = absl::StrFormat(
      "after step %d of %d", history.curve.size(), history.recipe.steps);
  if (file.empty())
    return InterruptedError(
        absl::StrCat(where, "; without --save nothing is kept"));
  return InterruptedError(
      absl::StrFormat("%s, the checkpoint is %s. To go on:\n%s --resume %s",
                      where, file, to_resume, ShellWord(file)));
}

absl::Status Train(TrainArgs args) {
  TrainOptions& options = args.train;
  const bool rtl = options.backend == "rtl";
  const auto preset =
      ModulePreset(ModuleKind::kStableHlo, options.preset, /*given=*/true);
  if (!preset.ok()) return preset.status();
  if (args.check == "auto") args.check = "ends";
  options.check = args.check == "all"    ? Check::kAll
                  : args.check == "ends" ? Check::kEnds
                                         : Check::kNone;
  options.compare = args.compare == "none" ? "" : args.compare;
  options.host_operators = args.host_operators != "error";
  std::error_code error;
  const bool can_test = std::filesystem::exists(
      absl::StrCat(options.program, "/evaluate.mlirbc"), error);
  options.tested =
      args.test_samples > 0 || !options.test.files.empty() ||
      (args.test_samples < 0 && !rtl && (args.goal > 0 || can_test));
  options.test_samples = std::max<int64_t>(args.test_samples, 0);
  options.eval_every = args.eval_every >= 0 ? args.eval_every : rtl ? 0 : 40;
  if (args.goal > 0 && !options.tested)
    return absl::InvalidArgumentError("--goal needs --test-images");
  if (options.save.empty()) options.save = options.resume;
  if (!args.reports.empty()) {
    if (absl::Status s = MakeFolder(args.reports); !s.ok())
      return WithHint(s, kOtherReports);
  }
  if (!options.save.empty()) {
    absl::Status status = MakeFolderOf(options.save);
    if (status.ok()) status = CheckWritable(options.save);
    if (!status.ok()) return WithHint(status, "--save names another file");
  }
  Progress progress(args.quiet);
  options.progress = [&](const std::string& label, uint64_t count,
                         const char* unit) {
    progress.set_label(label);
    progress.Report(count, unit);
  };
  options.interrupted = Interrupted;
  options.overdue = InterruptOverdue;
  const auto run = TrainRun::Create(std::move(options));
  if (!run.ok()) return OneLine(run.status());
  if (args.goal > 0) {
    const TrainModule& evaluate = *(*run)->program().evaluate;
    if (std::find(evaluate.results.begin(), evaluate.results.end(), kRight) ==
        evaluate.results.end())
      return absl::InvalidArgumentError(absl::StrCat(
          "--goal: ", evaluate.file, " has no result '", kRight, "'"));
  }
  CatchInterrupts();
  absl::Status status = (*run)->Run();
  progress.Clear();
  if (status.ok() && (*run)->interrupted())
    status = Stopped(**run, args.to_resume);
  if ((*run)->history().curve.empty()) return status;
  const nlohmann::ordered_json report = Report(**run);
  if (args.json) {
    PrintJson(report);
  } else {
    Print(**run);
  }
  if (!args.reports.empty() && (status.ok() || absl::IsCancelled(status))) {
    if (absl::Status s = WriteJson(args.reports + "/train.json", report);
        !s.ok())
      return s;
  }
  if (!status.ok()) return status;
  if (args.goal == 0) return absl::OkStatus();
  const double* right = Find((*run)->history().curve.back().test, kRight);
  if (100 * *right < args.goal) {
    return absl::OutOfRangeError(
        absl::StrFormat("%.2f %% of the test samples are right, the goal is "
                        "%.2f %%",
                        100 * *right, args.goal));
  }
  return absl::OkStatus();
}

}  // namespace

void AddTrainCommand(CLI::App& app, Action& chosen) {
  auto args = std::make_shared<TrainArgs>();
  TrainOptions& o = args->train;
  o.program = DataFile("models/digits_training", "models/digits_training");
  o.data = {{}, "--data", "build/digits", "train"};
  o.test = {{}, "--test", DataFile("tests/data/mnist", "digits"), "test"};
  CLI::App* sub = app.add_subcommand(
      "train",
      "Train a network on a bf16 core by the steps of a StableHLO program");
  sub->add_option("program", o.program,
                  "Folder with init.mlirbc, step.mlirbc and evaluate.mlirbc, "
                  "as examples/jax_export_training.py writes them")
      ->check(FileName())
      ->capture_default_str();
  sub->add_option("--backend", o.backend,
                  "Where to train: iss (the instruction-set simulator) or rtl "
                  "(the Verilated core)")
      ->capture_default_str();
  sub->add_option("--preset", o.preset, "Configuration: " + FloatPresets())
      ->capture_default_str();
  // What a checkpoint knows too.
  const std::vector<std::pair<const char*, CLI::Option*>> recipe = {
      {"steps",
       sub->add_option("--steps", o.recipe.steps,
                       "Number of steps, over which the rate falls to 0")
           ->check(WholeNumber(0, std::numeric_limits<int64_t>::max()))},
      {"rate", sub->add_option(
                   "--rate", o.recipe.rate,
                   "Learning rate of the first step. It falls linearly to 0")},
      {"seed",
       sub->add_option("--seed", o.recipe.seed,
                       "Seed of the initial state and of the order of samples")
           ->check(WholeNumber(0, 0xFFFFFFFF))}};
  for (const auto& [name, option] : recipe) option->capture_default_str();
  sub->add_option("--data", o.data.files,
                  "NAME=FILE.npy: what an argument of the step learns from, a "
                  "sample a row. Default for images and labels: --digits")
      ->check(FileName());
  sub->add_option("--test", o.test.files,
                  "NAME=FILE.npy: the same for evaluate.mlirbc. Default for "
                  "images and labels: --test-digits")
      ->check(FileName());
  sub->add_option("--digits", o.data.digits,
                  "Folder of the training digits (IDX files)")
      ->envname("SYSTOLE_DIGITS")
      ->take_last()
      ->capture_default_str();
  sub->add_option("--test-digits", o.test.digits, "Folder of the test digits")
      ->capture_default_str();
  sub->add_option("--test-images", args->test_samples,
                  "Number of test samples to measure with. Default: all, on "
                  "rtl 0")
      ->check(WholeNumber(0, kMostImages));
  sub->add_option("--eval-every", args->eval_every,
                  "Test after every N steps and at the end. Default: 40; on "
                  "rtl 0, only at the end")
      ->check(WholeNumber(0, kMostImages));
  sub->add_option("--goal", args->goal,
                  "Fail if fewer of the test samples are right at the end, in "
                  "percent")
      ->check(Number(0, 100));
  sub->add_option("--check", args->check,
                  "Steps that the golden model repeats, comparing every value: "
                  "all, ends (the first and the last one), none. auto is ends")
      ->check(CLI::IsMember({"auto", "all", "ends", "none"}))
      ->capture_default_str();
  sub->add_option("--compare", args->compare,
                  "Run each step on this backend too, and compare every value: "
                  "iss, rtl, none")
      ->check(CLI::IsMember({"none", "iss", "rtl"}))
      ->capture_default_str();
  AddHostOperatorsOption(*sub, args->host_operators);
  sub->add_option("--stop", o.stop,
                  "Stop after this step. A checkpoint can go on from there")
      ->check(WholeNumber(0, kMostImages));
  sub->add_option(
         "--save", o.save,
         "Write checkpoints to this file, twice a minute and at the end")
      ->take_last()
      ->check(FileName());
  sub->add_option("--resume", o.resume,
                  "Go on from this checkpoint, and save to it unless --save "
                  "names another file")
      ->check(FileName());
  sub->add_option("--reports", args->reports,
                  "Folder for train.json: build/reports in the project's "
                  "folder, else none. '' writes no report")
      ->take_last()
      ->capture_default_str();
  AddWaveOptions(*sub, o.waves);
  AddVerboseOption(*sub);
  sub->add_flag("--json", args->json, "Print JSON instead of the table");
  sub->add_flag("--quiet", args->quiet, "Do not show progress");
  sub->callback([args, recipe, sub, &chosen] {
    for (const auto& [name, option] : recipe) {
      if (option->count() > 0) args->train.given.push_back(name);
    }
    args->to_resume = CommandToResume(*sub, args->train.given);
    chosen = [args] { return Train(*args); };
  });
}

}  // namespace systole::tools
