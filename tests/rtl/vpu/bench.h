// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The bf16 cores' vector unit, Verilated, between models of its memories
// (tests/rtl/verilated_vector_unit.h).
//
//   auto unit = MakeUnit("mini", seed);
//   unit->memories() = ...;
//   RunResult result = unit->Run(descriptors, stalls);

#ifndef SYSTOLE_TESTS_RTL_VPU_BENCH_H_
#define SYSTOLE_TESTS_RTL_VPU_BENCH_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tests/rtl/vector_unit.h"

namespace systole::vpu_test {

inline constexpr int kUnits = 6;  // loads 0, 1, ALUs 0, 1, cross unit, store

struct Memories {
  std::vector<uint8_t> ub;
  std::vector<uint32_t> acc;  // [rows][Cols]
};

using vector_unit::Stalls;

struct RunResult : vector_unit::RunResult {
  std::array<int64_t, kUnits> busy{};  // rows or steps that a unit started
  int64_t nan = 0, inf = 0;            // elements among what was stored
  int64_t progress_cycles = 0;
  int64_t two_word_reads = 0;  // windows that need their second word
};

using Unit = vector_unit::Unit<Memories, RunResult>;

// The models that are linked: mini, single and hardware, or v2 (vpu_wide_test).
std::vector<const char*> Presets();

// preset: "mini" or "v2", "single": mini with one sublane, or "hardware": mini
// with the lanes as hardware, not as their simulation view.
std::unique_ptr<Unit> MakeUnit(std::string_view preset, uint32_t seed);

}  // namespace systole::vpu_test

#endif  // SYSTOLE_TESTS_RTL_VPU_BENCH_H_
