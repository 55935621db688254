// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// fault_campaign_PRESET: a batch of bit flips, a line of JSON each, after a
// line about the whole. scripts/faults.py runs many of them.
//   fault_campaign_nano --preset nano --seed 7 --flips 500 [--only "sync
//   flags"]

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "nlohmann/json.hpp"
#include "verif/faults/campaign.h"
#include "verif/tb/core_module.h"

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
  CLI11_PARSE(app, argc, argv);
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
