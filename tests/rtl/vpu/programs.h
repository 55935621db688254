// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs written as text, for the unit's bench.

#ifndef SYSTOLE_TESTS_RTL_VPU_PROGRAMS_H_
#define SYSTOLE_TESTS_RTL_VPU_PROGRAMS_H_

#include <string>
#include <vector>

#include "tests/rtl/vpu/bench.h"

namespace systole::vpu_test {

// Assembles (the constant L is Cols), puts the code at the end of the unified
// buffer's lower half less 16 KiB and loads it to instruction `at`.
struct LoadedProgram {
  isa::Vload vload;
  isa::Vrun vrun;
};
LoadedProgram PlaceProgram(Unit* unit, const std::string& text,
                           const std::vector<uint32_t>& args, int at = 0);

// Places, loads and runs it: the result of the vrun alone.
RunResult RunProgram(Unit* unit, const std::string& text,
                     const std::vector<uint32_t>& args,
                     const Stalls& stalls = {}, int at = 0);

}  // namespace systole::vpu_test

#endif  // SYSTOLE_TESTS_RTL_VPU_PROGRAMS_H_
