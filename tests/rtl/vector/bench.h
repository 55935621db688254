// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The int8 cores' vector unit, Verilated, between models of its memories
// (tests/rtl/verilated_vector_unit.h).
//
//   auto unit = MakeUnit("nano", seed);
//   unit->memories() = ...;
//   RunResult result = unit->Run(descriptors, stalls);

#ifndef SYSTOLE_TESTS_RTL_VECTOR_BENCH_H_
#define SYSTOLE_TESTS_RTL_VECTOR_BENCH_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tests/rtl/vector/reference.h"
#include "tests/rtl/vector_unit.h"

namespace systole::vector_test {

using vector_unit::Stalls;

struct RunResult : vector_unit::RunResult {
  int64_t saturated = 0;  // pulses
};

using Unit = vector_unit::Unit<Memories, RunResult>;

// The presets of the models that are linked: nano and board8, or edge, v1 and
// board (vector_wide_test).
std::vector<const char*> Presets();

std::unique_ptr<Unit> MakeUnit(std::string_view preset, uint32_t seed);

}  // namespace systole::vector_test

#endif  // SYSTOLE_TESTS_RTL_VECTOR_BENCH_H_
