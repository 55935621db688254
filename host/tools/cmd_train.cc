// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// train: the digits network from scratch, on a device; every number of a step
// is that of docs/training.md.
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
#include "host/training/step_program.h"

namespace systole::tools {
namespace {

constexpr int64_t kTableRows = 24;
constexpr int64_t kTestDigits = 2000;

struct TrainArgs {
  TrainOptions train;
  std::string check = "auto", compare = "none",
              reports = ResultPlace("build/reports", "");
  int64_t test_images = -1, eval_every = -1;
  double goal = 0;
  bool json = false, quiet = false, print_ir = false;
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

nlohmann::ordered_json Report(const TrainRun& run) {
  const History& history = run.history();
  const Counts counts = Count(history.curve);
  const CurvePoint& last = history.curve.back();
  nlohmann::ordered_json j = history.recipe.ToJson();
  j["backend"] = run.options().backend;
  j["train_digits"] = run.train_count();
  j["test_digits"] = run.test_count();
  j["steps_done"] = last.step;
  j["checked_by_golden"] = counts.checked;
  j["compared_with"] = run.options().compare.empty()
                           ? nlohmann::ordered_json(nullptr)
                           : nlohmann::ordered_json(run.options().compare);
  j["compared"] = counts.compared;
  j["seconds"] = counts.seconds;
  j["cycles"] = counts.cycles;
  j["test_right"] = last.test_right;
  j["accuracy"] =
      last.test_right < 0
          ? nlohmann::ordered_json(nullptr)
          : nlohmann::ordered_json(static_cast<double>(last.test_right) /
                                   static_cast<double>(run.test_count()));
  j["curve"] = ToJson(history.curve);
  return j;
}

// Rows of the table hold several steps where there are many: means over them.
void PrintCurve(const TrainRun& run) {
  const std::vector<CurvePoint>& curve = run.history().curve;
  const auto count = static_cast<int64_t>(curve.size());
  const int64_t group = (count + kTableRows - 1) / kTableRows;
  Table table({"step", "rate", "loss", "right", "cycles", "test"});
  for (int64_t first = 0; first < count; first += group) {
    const int64_t end = std::min(first + group, count), n = end - first;
    CurvePoint mean;
    for (int64_t i = first; i < end; ++i) {
      mean.loss += curve[i].loss / static_cast<double>(n);
      mean.right += curve[i].right / static_cast<double>(n);
      mean.cycles += curve[i].cycles / n;
      mean.test_right = std::max(mean.test_right, curve[i].test_right);
    }
    const std::string steps = n == 1
                                  ? absl::StrFormat("%d", end)
                                  : absl::StrFormat("%d to %d", first + 1, end);
    table.Add(
        {steps, absl::StrFormat("%.5f", curve[first].rate),
         absl::StrFormat("%.4f", mean.loss), Percent(mean.right),
         mean.cycles > 0 ? Thousands(mean.cycles) : "-",
         mean.test_right < 0
             ? "-"
             : absl::StrFormat("%.2f %%",
                               100 * static_cast<double>(mean.test_right) /
                                   static_cast<double>(run.test_count()))});
  }
  std::printf("%s\n", table.ToString().c_str());
}

void Print(const TrainRun& run) {
  const Recipe& recipe = run.history().recipe;
  const Counts counts = Count(run.history().curve);
  const CurvePoint& last = run.history().curve.back();
  std::printf(
      "digits network on %s, %s: %d of %d steps of %d digits, %s %g falling to "
      "0, seed %u\n\n",
      run.options().backend.c_str(), recipe.preset.c_str(),
      static_cast<int>(last.step), static_cast<int>(recipe.steps),
      static_cast<int>(recipe.batch), recipe.optimiser.c_str(), recipe.rate,
      recipe.seed);
  PrintCurve(run);
  if (last.test_right >= 0) {
    std::printf(
        "test accuracy: %.2f %%, %s of %s digits, by a forward pass on the "
        "device\n",
        100 * static_cast<double>(last.test_right) /
            static_cast<double>(run.test_count()),
        Thousands(last.test_right).c_str(),
        Thousands(run.test_count()).c_str());
  }
  std::printf("golden model:  %s of %s steps, every weight and loss equal\n",
              Thousands(counts.checked).c_str(),
              Thousands(counts.steps).c_str());
  if (counts.compared > 0) {
    std::printf(
        "lockstep:      %s of %s steps, every weight and loss equal to "
        "the %s's\n",
        Thousands(counts.compared).c_str(), Thousands(counts.steps).c_str(),
        run.options().compare.c_str());
  }
  std::printf(
      "time:          %.1f s, %.1f images a second%s\n", counts.seconds,
      static_cast<double>(counts.steps * recipe.batch) /
          std::max(counts.seconds, 1e-9),
      counts.cycles > 0
          ? absl::StrFormat(", %s cycles", Thousands(counts.cycles)).c_str()
          : "");
  std::printf("values:        %s\n", SpecialValues(run.totals()).c_str());
  if (!run.options().save.empty())
    std::printf("checkpoint:    %s\n", Printable(run.options().save).c_str());
}

// The command as it was given, without what the checkpoint knows.
std::string CommandToResume(const CLI::App& sub,
                            const std::vector<std::string>& in_checkpoint) {
  std::string text =
      absl::StrCat(ShellWord(program_invocation_name), " ", sub.get_name());
  for (const CLI::Option* option : sub.get_options()) {
    const std::string name = option->get_single_name();
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
  const auto preset = PresetByName(options.recipe.preset);
  if (!preset.ok()) return preset.status();
  if (args.print_ir) {
    if (absl::Status s = options.recipe.Check(); !s.ok()) return s;
    const auto text = training::StepText(training::DigitsLayers(),
                                         options.recipe.Options(), **preset);
    if (!text.ok()) return text.status();
    if (args.json)
      PrintJson({{"ir", *text}});
    else
      std::printf("%s", text->c_str());
    return absl::OkStatus();
  }
  if (args.check == "auto") args.check = rtl ? "all" : "ends";
  options.check = args.check == "all"    ? Check::kAll
                  : args.check == "ends" ? Check::kEnds
                                         : Check::kNone;
  options.compare = args.compare == "none" ? "" : args.compare;
  options.test_images = args.test_images >= 0 ? args.test_images
                        : rtl                 ? 0
                                              : kTestDigits;
  options.eval_every = args.eval_every >= 0 ? args.eval_every : rtl ? 0 : 40;
  if (args.goal > 0 && options.test_images == 0)
    return absl::InvalidArgumentError("--goal needs --test-images");
  if (options.save.empty()) options.save = options.resume;

  if (!args.reports.empty()) {
    if (absl::Status s = MakeFolder(args.reports); !s.ok())
      return WithHint(s, kOtherReports);
  }
  if (!options.save.empty() && options.save != options.resume) {
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
  if (!status.ok()) return status;
  if (!args.reports.empty()) {
    if (absl::Status s = WriteJson(args.reports + "/train.json", report);
        !s.ok())
      return s;
  }
  const double accuracy =
      100 * static_cast<double>((*run)->history().curve.back().test_right) /
      static_cast<double>(std::max<int64_t>((*run)->test_count(), 1));
  if (args.goal > 0 && accuracy < args.goal) {
    return absl::OutOfRangeError(absl::StrFormat(
        "test accuracy %.2f %%, the goal is %.2f %%", accuracy, args.goal));
  }
  return absl::OkStatus();
}

}  // namespace

void AddTrainCommand(CLI::App& app, Action& chosen) {
  auto args = std::make_shared<TrainArgs>();
  TrainOptions& o = args->train;
  o.digits = "build/digits";
  o.test_digits = DataFile("tests/data/mnist", "digits");
  CLI::App* sub = app.add_subcommand(
      "train", "Train the digits network from scratch, on a bf16 core");
  sub->add_option("--backend", o.backend,
                  "Where to train: iss (the instruction-set simulator) or rtl "
                  "(the Verilated core)")
      ->capture_default_str();
  // What a checkpoint knows too.
  const std::vector<std::pair<const char*, CLI::Option*>> recipe = {
      {"preset", sub->add_option("--preset", o.recipe.preset,
                                 "Configuration: " + FloatPresets(kClasses))},
      {"steps",
       sub->add_option("--steps", o.recipe.steps,
                       "Number of steps, over which the rate falls to 0")
           ->check(WholeNumber(0, std::numeric_limits<int64_t>::max()))},
      {"batch",
       sub->add_option("--batch", o.recipe.batch, "Images per step")
           ->check(WholeNumber(0, std::numeric_limits<int64_t>::max()))},
      {"rate", sub->add_option(
                   "--rate", o.recipe.rate,
                   "Learning rate of the first step. It falls linearly to 0")},
      {"optimiser", sub->add_option("--optimiser", o.recipe.optimiser,
                                    "Optimiser: adam or sgd")
                        ->check(CLI::IsMember({"adam", "sgd"}))},
      {"momentum",
       sub->add_option("--momentum", o.recipe.momentum, "Momentum of sgd")},
      {"seed",
       sub->add_option("--seed", o.recipe.seed,
                       "Seed of the weights and of the order of the digits")
           ->check(WholeNumber(0, 0xFFFFFFFF))}};
  for (const auto& [name, option] : recipe) option->capture_default_str();
  sub->add_option("--digits", o.digits,
                  "Folder of the training digits (IDX files)")
      ->envname("SYSTOLE_DIGITS")
      ->take_last()
      ->capture_default_str();
  sub->add_option("--test-digits", o.test_digits, "Folder of the test digits")
      ->capture_default_str();
  sub->add_option("--test-images", args->test_images,
                  "Number of test digits to measure the accuracy with. "
                  "Default: 2000, on rtl 0")
      ->check(WholeNumber(0, kMostImages));
  sub->add_option("--eval-every", args->eval_every,
                  "Measure the accuracy after every N steps and at the end. "
                  "Default: 40; on rtl 0, only at the end")
      ->check(WholeNumber(0, kMostImages));
  sub->add_option("--goal", args->goal,
                  "Fail if the accuracy at the end is below this, in percent")
      ->check(Number(0, 100));
  sub->add_option("--check", args->check,
                  "Steps that the golden model repeats, comparing every "
                  "weight: all, ends (the first and the last two), none. auto "
                  "is all on rtl, else ends")
      ->check(CLI::IsMember({"auto", "all", "ends", "none"}))
      ->capture_default_str();
  sub->add_option("--compare", args->compare,
                  "Run each step on this backend too, and compare every "
                  "weight: iss, rtl, none")
      ->check(CLI::IsMember({"none", "iss", "rtl"}))
      ->capture_default_str();
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
  sub->add_flag("--print-ir", args->print_ir,
                "Print the module and the plan of a step, and do nothing else");
  sub->add_flag("--json", args->json, "Print JSON instead of the table");
  sub->add_flag("--quiet", args->quiet, "Do not show progress");
  sub->callback([args, recipe, sub, &chosen] {
    const TrainOptions& given = args->train;
    if (sub->count("--momentum") > 0 && given.resume.empty() &&
        given.recipe.optimiser != "sgd")
      throw CLI::ValidationError("--momentum",
                                 "has no effect without --optimiser sgd");
    for (const auto& [name, option] : recipe) {
      if (option->count() > 0) args->train.given.push_back(name);
    }
    args->to_resume = CommandToResume(*sub, args->train.given);
    chosen = [args] { return Train(*args); };
  });
}

}  // namespace systole::tools
