// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// train: the steps of a StableHLO training, on a device (docs/training.md).
#include <errno.h>

#include <algorithm>
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
#include "host/tools/train_report.h"
#include "host/tools/train_run.h"

namespace systole::tools {
namespace {

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
  const nlohmann::ordered_json report = ToJson(**run);
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
