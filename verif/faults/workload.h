// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The programs of the fault campaign. They are short and keep all units of the
// core busy. Each result depends on all data that were read.

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
  std::vector<Range> outputs;  // ranges that are compared
  std::vector<Range> memory;   // ranges that the program reads and writes
};

// nano: overlapping rounds of load, product, requantisation, product, raw
// results, store. minichip, with its scalar unit: blocks are sent to the other
// core's memory and return, during a product of four tiles. The data are
// random, from the seed. kInvalidArgument: any other preset.
absl::StatusOr<Workload> MakeWorkload(const std::string& preset, uint32_t seed);

}  // namespace systole::faults

#endif  // SYSTOLE_VERIF_FAULTS_WORKLOAD_H_
