// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the Verilated models of this unit have for ports (units.cc,
// units_wide.cc).

#ifndef SYSTOLE_TESTS_RTL_VPU_PORTS_H_
#define SYSTOLE_TESTS_RTL_VPU_PORTS_H_

#include "tests/rtl/verilated_vector_unit.h"
#include "tests/rtl/vpu/bench.h"

namespace systole::vpu_test {

struct Ports {
  using Memories = vpu_test::Memories;
  using Result = RunResult;
  static constexpr int kReads = 2;
  static constexpr bool kReadsWhileFrozen = false;
  static int64_t Window(const Preset& preset) { return 4 * preset.cols; }
  template <typename Model>
  static uint32_t ReadAddress(const Model& m, int port) {
    return m.vrd_addr_o[port];
  }
  template <typename Model>
  static int Needed(const Model& m, int port) {
    return m.vrd_need_o >> (2 * port) & 3;
  }
  template <typename Model>
  static void Count(const Model& m, RunResult* r) {
    r->progress_cycles += m.progress_o;
    for (int u = 0; u < kUnits; ++u) r->busy[u] += m.busy_o >> u & 1;
    r->nan += m.nan_o;
    r->inf += m.inf_o;
    for (int port = 0; port < kReads; ++port) {
      const bool moves = (m.vrd_valid_o & m.vrd_ready_i) >> port & 1;
      r->two_word_reads += moves && Needed(m, port) == 3;
    }
  }
};

template <typename Model>
using Verilated = vector_unit::VerilatedUnit<Model, Ports>;

}  // namespace systole::vpu_test

#endif  // SYSTOLE_TESTS_RTL_VPU_PORTS_H_
