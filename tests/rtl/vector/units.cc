// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include <cstdlib>

#include "Vvector_edge.h"
#include "Vvector_nano.h"
#include "Vvector_v1.h"
#include "tests/rtl/vector/verilated_unit.h"

namespace systole::vector_test {

std::unique_ptr<Unit> MakeUnit(std::string_view preset, uint32_t seed) {
  if (preset == "nano") {
    return std::make_unique<VerilatedUnit<Vvector_nano>>(*FindPreset(preset),
                                                         seed);
  }
  if (preset == "edge") {
    return std::make_unique<VerilatedUnit<Vvector_edge>>(*FindPreset(preset),
                                                         seed);
  }
  if (preset == "v1") {
    return std::make_unique<VerilatedUnit<Vvector_v1>>(*FindPreset(preset),
                                                       seed);
  }
  std::abort();
}

}  // namespace systole::vector_test
