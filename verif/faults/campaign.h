// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Runs a program on the Verilated chip many times, each time with one bit of
// its state flipped in one cycle, and reports the outcome of each run.
// docs/faults.md.
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
  uint32_t seed = 1;  // of the data and of the flips
  int flips = 100;
  int jobs = 2;      // copies of the process that run at a time
  std::string only;  // a structure; empty: all, with equal shares
  // Flips per copy at first (injector.h); 1: one copy per flip. The outcomes do
  // not depend on it.
  int group = 8;
  std::map<std::string, int> groups;  // for some structures, instead of `group`
};

// masked: the results are right. corrected: the results are right, and ECC
// reports a correction. reported: the core faulted, or the driver timed out.
// silent: the results are wrong, and nothing is reported.
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
  uint64_t cycles = 0;  // window of the flips: from the start to the end of the
                        // last descriptor
  std::map<std::string, uint64_t> bits;  // of each structure
  std::vector<Flip> flips;
  uint64_t copies = 0, early = 0;  // runs; those that ended early
};

// kInvalidArgument: no such preset or structure; the message lists the existing
// ones. kInternal: the program fails without a flip, or the harness failed.
absl::StatusOr<Results> RunCampaign(const Options& options);

}  // namespace systole::faults

#endif  // SYSTOLE_VERIF_FAULTS_CAMPAIGN_H_
