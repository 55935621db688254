// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/train_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/files/printable.h"
#include "host/tools/report.h"

namespace systole::tools {
namespace {

constexpr int64_t kTableRows = 24;

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
    for (const std::string& name : metrics) {
      row.push_back(absl::StrFormat("%.4f", mean([&](const CurvePoint& p) {
                                      const double* value =
                                          Find(p.metrics, name);
                                      return value ? *value : std::nan("");
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

}  // namespace

const double* Find(const Metrics& metrics, const std::string& name) {
  const auto found =
      std::find_if(metrics.begin(), metrics.end(),
                   [&](const auto& metric) { return metric.first == name; });
  return found == metrics.end() ? nullptr : &found->second;
}

nlohmann::ordered_json ToJson(const TrainRun& run) {
  const History& history = run.history();
  const Counts counts = Count(history.curve);
  const CurvePoint& last = history.curve.back();
  const TrainOptions& options = run.options();
  nlohmann::ordered_json j = {{"program", options.program},
                              {"preset", options.preset},
                              {"backend", options.backend},
                              {"batch", run.program().batch},
                              {"recipe", history.recipe.ToJson()},
                              {"train_samples", run.train_count()},
                              {"test_samples", run.test_count()},
                              {"steps_done", last.step},
                              {"checked_by_golden", counts.checked}};
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

}  // namespace systole::tools
