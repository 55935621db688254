// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reads of the unified buffer that meet in its banks.
#ifndef SYSTOLE_HOST_COMPILER_BANK_CONFLICTS_H_
#define SYSTOLE_HOST_COMPILER_BANK_CONFLICTS_H_

#include <cstdint>
#include <vector>

#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::compiler {

// A read of `len` bytes by a window of the data setup.
struct WindowRead {
  int64_t address = 0, len = 0;
};

// Cycles for the windows of one vector. Each window reads the one or two words
// that hold its bytes, and a bank serves one word per cycle.
int64_t WindowCycles(const std::vector<WindowRead>& reads,
                     const Preset& preset);

// Cycles that the windows of a matmul's pass wait for each other's banks,
// sampled at the first positions of a line.
int64_t StallsOf(const isa::Matmul& op, const Preset& preset);

// Average cycles that a read of the vector unit waits while the array is
// active. The data setup has priority: a read that hits its bank waits for half
// of the cycles that the setup stays there.
double DeniesOf(const isa::Matmul& op, const Preset& preset);

}  // namespace systole::compiler

#endif  // SYSTOLE_HOST_COMPILER_BANK_CONFLICTS_H_
