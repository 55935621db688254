// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The programs of the fault campaign: short, all units of the core at work, and
// each result depends on all that was read.

#ifndef SYSTOLE_VERIF_FAULTS_WORKLOAD_H_
#define SYSTOLE_VERIF_FAULTS_WORKLOAD_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "systole/program.h"

namespace systole::faults {

struct Range {
  uint64_t address = 0, bytes = 0;
};

struct Workload {
  Program program;
  std::vector<Range> outputs;  // what is compared
  std::vector<Range> memory;   // what the program reads and writes
};

// nano: rounds of load, product, requantisation, product, raw results, store,
// which overlap. minichip, by its scalar unit: blocks that go to the other
// core's memory and come back, beside a product of four tiles. Random data from
// the seed. kInvalidArgument: no other presets.
absl::StatusOr<Workload> MakeWorkload(const std::string& preset, uint32_t seed);

}  // namespace systole::faults

#endif  // SYSTOLE_VERIF_FAULTS_WORKLOAD_H_
