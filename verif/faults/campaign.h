// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Runs a program on the Verilated chip many times, each time with one bit of
// its state turned at one cycle, and says what became of each. docs/faults.md.
//
//   auto results = RunCampaign({.preset = "nano", .seed = 1, .flips = 100});

#ifndef SYSTOLE_VERIF_FAULTS_CAMPAIGN_H_
#define SYSTOLE_VERIF_FAULTS_CAMPAIGN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace systole::faults {

struct Options {
  std::string preset = "nano";
  uint32_t seed = 1;  // of the data and of what is turned
  int flips = 100;
  int jobs = 2;      // copies of the process at a time
  std::string only;  // a structure; empty: all, each as often
  // Flips that a copy begins with (injector.h); 1: a copy each. The outcomes
  // are the same.
  int group = 8;
  std::map<std::string, int> groups;  // of some structures, instead
};

// masked: the results are right. corrected: and ECC says that it put something
// right. reported: a fault, or no end within the driver's time. silent: the
// results are wrong, and nobody says so.
enum class Outcome { kMasked, kCorrected, kReported, kSilent };
inline constexpr const char* kOutcomeNames[] = {"masked", "corrected",
                                                "reported", "silent"};

struct Flip {
  std::string structure, bit;
  uint64_t cycle = 0;  // since the program's start
  Outcome outcome = Outcome::kMasked;
  std::string detail;  // reported: the cause of the fault, or "timeout"
};

struct Results {
  uint64_t cycles = 0;  // in which bits turn: from the start to the last
                        // descriptor's end
  std::map<std::string, uint64_t> bits;  // of each structure
  std::vector<Flip> flips;
  uint64_t copies = 0, early = 0;  // runs; of them ended before their end
};

// kInvalidArgument: no such preset or structure; the message lists what there
// is. kInternal: the program fails without a flip, or the harness did.
absl::StatusOr<Results> RunCampaign(const Options& options);

}  // namespace systole::faults

#endif  // SYSTOLE_VERIF_FAULTS_CAMPAIGN_H_
