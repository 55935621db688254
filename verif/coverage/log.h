// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Coverage of the simulated cores of a process: cycles, and the bins of
// functional coverage of the cores with the probe
// (gen/systole_coverage_probe.sv). It is written at the end of the program to
// the folder that SYSTOLE_COVERAGE_DIR names, one file per process. Without
// that variable nothing is recorded.
#ifndef SYSTOLE_VERIF_COVERAGE_LOG_H_
#define SYSTOLE_VERIF_COVERAGE_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

namespace systole::coverage {

// Adds the counts of a model that is destroyed; `hits` is empty without a
// probe.
void Add(const std::string& preset, bool checked, uint64_t cycles,
         const std::vector<uint32_t>& hits);

}  // namespace systole::coverage

#endif  // SYSTOLE_VERIF_COVERAGE_LOG_H_
