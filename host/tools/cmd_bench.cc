// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// bench: all sections, a table each, and bench.json.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/files/write_file.h"
#include "host/tools/bench.h"
#include "host/tools/bench_model.h"
#include "host/tools/commands.h"
#include "host/tools/interrupt.h"
#include "host/tools/options.h"
#include "host/tools/report.h"

namespace systole::tools {
namespace {

struct Section {
  const char* name;
  absl::StatusOr<std::vector<Record>> (Bench::*measure)();
};

constexpr Section kSections[] = {
    {"matmul", &Bench::Matmuls},    {"convolution", &Bench::Convolutions},
    {"nvdla", &Bench::Nvdla},       {"hbm", &Bench::HbmStreaming},
    {"bf16", &Bench::FloatMatmuls}, {"training", &Bench::TrainingSteps},
    {"hlo", &Bench::Hlo},           {"elementwise", &Bench::Elementwise},
    {"speed", &Bench::Speed},
};

absl::Status RunBench(const BenchArgs& args) {
  Progress progress(args.quiet);
  std::vector<Record> records;
  for (const Section& section : kSections) {
    const bool wanted = args.sections.empty() ||
                        std::find(args.sections.begin(), args.sections.end(),
                                  section.name) != args.sections.end();
    if (!wanted) continue;
    // From a reset: where the HBM's refreshes fall does not depend on what else
    // is measured, so the cycles repeat.
    Bench bench(args, progress);
    const auto measured = (bench.*section.measure)();
    if (absl::IsCancelled(measured.status()))
      return InterruptedError(absl::StrFormat(
          "in the section '%s'; no results are written", section.name));
    if (!measured.ok()) return measured.status();
    records.insert(records.end(), measured->begin(), measured->end());
  }
  if (args.json) PrintJson(ToJson(records));
  if (!args.reports.empty()) {
    if (absl::Status s =
            WriteJson(args.reports + "/bench.json", ToJson(records));
        !s.ok())
      return s;
  }
  return args.compare.empty() ? absl::OkStatus()
                              : CompareRecords(records, args.compare);
}

}  // namespace

namespace {

bool IsSection(const std::string& word) {
  return std::any_of(std::begin(kSections), std::end(kSections),
                     [&](const Section& s) { return word == s.name; });
}

// Whether files are asked for rather than sections. Throws CLI::ParseError
// where they are mixed, or an option has no effect.
bool AreModels(const CLI::App& sub, const std::vector<std::string>& words) {
  const auto sections = std::count_if(words.begin(), words.end(), IsSection);
  const bool models = !words.empty() && sections == 0;
  if (sections > 0 && sections < static_cast<int64_t>(words.size()))
    throw CLI::ValidationError("sections", "either sections or models");
  const auto without_effect = [&](std::initializer_list<const char*> options,
                                  const char* only) {
    for (const char* option : options) {
      if (sub.count(option) > 0)
        throw CLI::ValidationError(
            option, absl::StrCat("has no effect here, only on ", only));
    }
  };
  if (models) {
    without_effect({"--starts", "--model", "--digits"}, "sections");
  } else {
    without_effect({"--preset", "--batch"}, "models");
  }
  return models;
}

// What is needed at the end is looked at before minutes of simulation.
absl::Status CheckFiles(const BenchArgs& args) {
  if (!args.compare.empty()) {
    if (absl::Status s = CheckRecords(args.compare); !s.ok()) return s;
  }
  return args.reports.empty()
             ? absl::OkStatus()
             : WithHint(MakeFolder(args.reports), kOtherReports);
}

}  // namespace

void AddBenchCommand(CLI::App& app, Action& chosen) {
  auto args = std::make_shared<BenchArgs>();
  CLI::App* sub = app.add_subcommand(
      "bench", "Measure utilisation, HBM bandwidth and simulation speed");
  std::vector<std::string> names;
  for (const Section& section : kSections) names.push_back(section.name);
  sub->add_option("sections", args->sections,
                  "What to measure: sections (default: all), or model files, "
                  "whose layers are measured one by one")
      ->check(CLI::Validator(
          [names](std::string& word) -> std::string {
            std::error_code error;
            if (IsSection(word) || word == "-" ||
                std::filesystem::exists(word, error))
              return "";
            return absl::StrFormat(
                "'%s' is neither a section nor a file; the sections are %s",
                word, absl::StrJoin(names, ", "));
          },
          ""));
  auto models = std::make_shared<ModelBenchArgs>();
  sub->add_option(
         "--preset", models->preset,
         absl::StrCat("Configuration for models: ", QuantisedPresets()))
      ->capture_default_str();
  sub->add_option("--batch", models->batch, "Images per run, for models")
      ->check(WholeNumber(1, kMostImages))
      ->capture_default_str();
  sub->add_option("--backend", args->backend,
                  "Where to run: rtl, or iss, which checks the results but has "
                  "no cycles")
      ->capture_default_str();
  sub->add_option("--model", args->model,
                  "Model whose convolutions are measured")
      ->capture_default_str();
  sub->add_option("--digits", args->digits, "Folder of the test digits")
      ->capture_default_str();
  sub->add_option("--reports", args->reports,
                  "Folder for bench.json: build/reports in the project's "
                  "folder, else none. '' writes no report")
      ->take_last()
      ->capture_default_str();
  sub->add_option("--compare", args->compare,
                  "Compare with the records of an earlier run (bench.json): "
                  "print the counts that moved, and fail if one did")
      ->check(FileName());
  sub->add_option("--starts", args->starts,
                  "Start each matrix product this many times, at different "
                  "moments. The lowest count has no HBM refresh in it")
      ->check(WholeNumber(1, 1000))
      ->capture_default_str();
  sub->add_option("--seed", args->seed, "Seed of the random operands")
      ->check(Seed())
      ->capture_default_str();
  sub->add_flag("--json", args->json, "Print JSON instead of tables");
  sub->add_flag("--quiet", args->quiet, "Do not show progress");
  sub->callback([args, models, sub, &chosen] {
    const bool are_models = AreModels(*sub, args->sections);
    chosen = [args, models, are_models] {
      if (absl::Status s = CheckFiles(*args); !s.ok()) return s;
      CatchInterrupts();
      return are_models ? BenchModels(*args, *models) : RunBench(*args);
    };
  });
}

}  // namespace systole::tools
