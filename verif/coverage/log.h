// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the cores of a process have done: cycles, and the bins of functional
// coverage of those with its probe (gen/systole_coverage_probe.sv). Written at
// the end of the program into the folder that SYSTOLE_COVERAGE_DIR names, a
// file a process; without that variable nothing is kept.
#ifndef SYSTOLE_VERIF_COVERAGE_LOG_H_
#define SYSTOLE_VERIF_COVERAGE_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

namespace systole::coverage {

// Counts of one model when it goes: `hits` empty without a probe.
void Add(const std::string& preset, bool checked, uint64_t cycles,
         const std::vector<uint32_t>& hits);

}  // namespace systole::coverage

#endif  // SYSTOLE_VERIF_COVERAGE_LOG_H_
