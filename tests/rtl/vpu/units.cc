// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include <cstdlib>

#include "Vvpu_mini.h"
#include "Vvpu_v2.h"
#include "tests/rtl/vpu/verilated_unit.h"

namespace systole::vpu_test {

std::unique_ptr<Unit> MakeUnit(std::string_view preset, uint32_t seed) {
  if (preset == "mini") {
    return std::make_unique<VerilatedUnit<Vvpu_mini>>(*FindPreset(preset),
                                                      seed);
  }
  if (preset == "v2") {
    return std::make_unique<VerilatedUnit<Vvpu_v2>>(*FindPreset(preset), seed);
  }
  std::abort();
}

}  // namespace systole::vpu_test
