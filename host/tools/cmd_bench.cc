// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// bench: all sections, a table each, and bench.json.
#include <algorithm>
#include <cstdio>

#include "absl/strings/str_format.h"
#include "host/tools/bench.h"
#include "host/tools/bench_model.h"
#include "host/tools/commands.h"
#include "host/tools/interrupt.h"
#include "host/tools/report.h"

namespace systole::tools {
namespace {

struct Section {
  const char* name;
  absl::StatusOr<std::vector<Record>> (Bench::*measure)();
};

constexpr Section kSections[] = {
    {"matmul", &Bench::Matmuls},
    {"convolution", &Bench::Convolutions},
    {"nvdla", &Bench::Nvdla},
    {"hbm", &Bench::HbmStreaming},
    {"bf16", &Bench::FloatMatmuls},
    {"training", &Bench::TrainingSteps},
    {"elementwise", &Bench::Elementwise},
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
  if (args.json) std::printf("%s\n", ToJson(records).dump(2).c_str());
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

void AddBenchCommand(CLI::App& app, Action& chosen) {
  auto args = std::make_shared<BenchArgs>();
  CLI::App* sub = app.add_subcommand(
      "bench", "measure utilisation, HBM bandwidth and simulation speed");
  std::vector<std::string> names;
  for (const Section& section : kSections) names.push_back(section.name);
  sub->add_option("sections", args->sections,
                  "what to measure, all by default; or models' files, each "
                  "layer of which is measured")
      ->check(CLI::IsMember(names) | CLI::ExistingFile);
  auto models = std::make_shared<ModelBenchArgs>();
  AddModelBenchOptions(*sub, *models);
  sub->add_option(
         "--backend", args->backend,
         "rtl; the iss runs all and checks the results, but has no cycles")
      ->capture_default_str();
  sub->add_option("--model", args->model,
                  "model file, for the demo's convolutions")
      ->capture_default_str();
  sub->add_option("--digits", args->digits, "folder of the test digits")
      ->capture_default_str();
  sub->add_option("--reports", args->reports,
                  "folder of bench.json; empty: none")
      ->capture_default_str();
  sub->add_option("--compare", args->compare,
                  "records of an earlier run (bench.json): print what counts "
                  "moved, and fail if one did")
      ->check(CLI::ExistingFile);
  sub->add_option("--starts", args->starts,
                  "starts of each matrix product at different times: the least "
                  "cycles have no refresh of the HBM in the way")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  sub->add_option("--seed", args->seed, "seed of the random operands")
      ->capture_default_str();
  sub->add_flag("--json", args->json, "print JSON instead of tables");
  sub->add_flag("--quiet", args->quiet, "show no progress");
  sub->callback([args, models, &chosen] {
    chosen = [args, models] {
      CatchInterrupts();
      return AreModels(args->sections) ? BenchModels(*args, *models)
                                       : RunBench(*args);
    };
  });
}

}  // namespace systole::tools
