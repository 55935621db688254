// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Coverage of the simulated cores of a process: cycles, and the bins of
// functional coverage of cores with the probe (gen/systole_coverage_probe.sv).
// At the end of the program, the log is written to the folder
// SYSTOLE_COVERAGE_DIR, one file per process. If the variable is not set,
// nothing is recorded.
#ifndef SYSTOLE_VERIF_COVERAGE_LOG_H_
#define SYSTOLE_VERIF_COVERAGE_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

namespace systole::coverage {

// Adds the counts of a model that is being destroyed. `hits` is empty if it has
// no probe.
void Add(const std::string& preset, bool checked, uint64_t cycles,
         const std::vector<uint32_t>& hits);

}  // namespace systole::coverage

#endif  // SYSTOLE_VERIF_COVERAGE_LOG_H_
