// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include <cstdlib>

#include "Vvector_board.h"
#include "Vvector_board8.h"
#include "Vvector_edge.h"
#include "Vvector_nano.h"
#include "Vvector_v1.h"
#include "tests/rtl/vector/bench.h"
#include "tests/rtl/verilated_vector_unit.h"

namespace systole::vector_test {

namespace {

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
std::unique_ptr<Unit> Make(const Preset& preset, uint32_t seed) {
  return std::make_unique<vector_unit::VerilatedUnit<Model, Ports>>(preset,
                                                                    seed);
}

}  // namespace

std::unique_ptr<Unit> MakeUnit(std::string_view preset, uint32_t seed) {
  if (preset == "nano") return Make<Vvector_nano>(*FindPreset(preset), seed);
  if (preset == "edge") return Make<Vvector_edge>(*FindPreset(preset), seed);
  if (preset == "v1") return Make<Vvector_v1>(*FindPreset(preset), seed);
  if (preset == "board8") {
    return Make<Vvector_board8>(*FindPreset(preset), seed);
  }
  if (preset == "board") return Make<Vvector_board>(*FindPreset(preset), seed);
  std::abort();
}

}  // namespace systole::vector_test
