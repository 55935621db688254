// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// fault_campaign_PRESET: runs a batch of bit flips. Prints a line about the
// whole batch, then a line of JSON for each flip. scripts/faults.py runs many
// batches.
//
//   fault_campaign_nano --preset nano --seed 7 --flips 500
//       [--only "sync flags"]

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>

#include "nlohmann/json.hpp"
#include "verif/faults/campaign.h"
#include "verif/tb/core_module.h"

namespace {

// Processor time of this process and of its copies.
double CpuSeconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used = {};
    getrusage(who, &used);
    for (const timeval& t : {used.ru_utime, used.ru_stime}) {
      seconds +=
          static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    }
  }
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  using Json = nlohmann::ordered_json;
  systole::faults::Options options;
  CLI::App app("Turns bits of the running chip and says what became of each.");
  app.add_option("--preset", options.preset, "nano, minichip");
  app.add_option("--seed", options.seed, "of data and flips");
  app.add_option("--flips", options.flips, "bits to turn, one a run")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--jobs", options.jobs, "runs at a time")
      ->check(CLI::Range(1, 256));
  app.add_option("--only", options.only, "a structure; default: all");
  app.add_option("--group", options.group, "flips that a run begins with")
      ->check(CLI::Range(1, 64));
  std::string groups;
  app.add_option("--groups", groups, "of some structures, a JSON object");
  CLI11_PARSE(app, argc, argv);
  if (!groups.empty()) {
    const Json sizes = Json::parse(groups, nullptr, false);
    if (!sizes.is_object()) {
      std::fprintf(stderr, "fault_campaign: --groups: no JSON object\n");
      return 1;
    }
    for (const auto& [name, size] : sizes.items())
      options.groups[name] = std::clamp(size.get<int>(), 1, 64);
  }
  const auto results = systole::faults::RunCampaign(options);
  if (!results.ok()) {
    std::fprintf(stderr, "fault_campaign: %s\n",
                 std::string(results.status().message()).c_str());
    return 1;
  }
  Json head;
  head["preset"] = options.preset;
  head["seed"] = options.seed;
  head["model"] = std::string(&systole::tb::kCoreStamp[0]);
  head["cycles"] = results->cycles;
  head["bits"] = results->bits;
  head["copies"] = results->copies;
  head["early"] = results->early;
  head["cpu_seconds"] = CpuSeconds();
  std::printf("%s\n", head.dump().c_str());
  for (const systole::faults::Flip& flip : results->flips) {
    Json line;
    line["structure"] = flip.structure;
    line["bit"] = flip.bit;
    line["cycle"] = flip.cycle;
    line["outcome"] =
        systole::faults::kOutcomeNames[static_cast<int>(flip.outcome)];
    line["detail"] = flip.detail;
    std::printf("%s\n", line.dump().c_str());
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
