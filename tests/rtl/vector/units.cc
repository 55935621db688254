// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include <cstdlib>
#include <memory>

#include "Vvector_board8.h"
#include "Vvector_nano.h"
#include "tests/rtl/vector/ports.h"

namespace systole::vector_test {

std::vector<const char*> Presets() { return {"nano", "board8"}; }

std::unique_ptr<Unit> MakeUnit(std::string_view preset, uint32_t seed) {
  if (preset == "nano")
    return std::make_unique<Verilated<Vvector_nano>>(*FindPreset(preset), seed);
  if (preset == "board8") {
    return std::make_unique<Verilated<Vvector_board8>>(*FindPreset(preset),
                                                       seed);
  }
  std::abort();
}

}  // namespace systole::vector_test
