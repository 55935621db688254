// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the Verilated models of this unit have for ports (units.cc,
// units_wide.cc).

#ifndef SYSTOLE_TESTS_RTL_VECTOR_PORTS_H_
#define SYSTOLE_TESTS_RTL_VECTOR_PORTS_H_

#include "tests/rtl/vector/bench.h"
#include "tests/rtl/verilated_vector_unit.h"

namespace systole::vector_test {

struct Ports {
  using Memories = vector_test::Memories;
  using Result = RunResult;
  static constexpr int kReads = 1;
  static constexpr bool kReadsWhileFrozen = true;
  static int64_t Window(const Preset& preset) { return preset.cols; }
  template <typename Model>
  static uint32_t ReadAddress(const Model& m, int) {
    return m.vrd_addr_o;
  }
  template <typename Model>
  static int Needed(const Model&, int) {
    return 3;
  }
  template <typename Model>
  static void Count(const Model& m, RunResult* r) {
    r->saturated += m.saturated_o;
  }
};

template <typename Model>
using Verilated = vector_unit::VerilatedUnit<Model, Ports>;

}  // namespace systole::vector_test

#endif  // SYSTOLE_TESTS_RTL_VECTOR_PORTS_H_
