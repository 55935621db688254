// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include <cstdlib>
#include <memory>

#include "Vvector_board.h"
#include "Vvector_edge.h"
#include "Vvector_v1.h"
#include "tests/rtl/vector/ports.h"

namespace systole::vector_test {

std::vector<const char*> Presets() { return {"edge", "v1", "board"}; }

std::unique_ptr<Unit> MakeUnit(std::string_view preset, uint32_t seed) {
  if (preset == "edge")
    return std::make_unique<Verilated<Vvector_edge>>(*FindPreset(preset), seed);
  if (preset == "v1")
    return std::make_unique<Verilated<Vvector_v1>>(*FindPreset(preset), seed);
  if (preset == "board")
    return std::make_unique<Verilated<Vvector_board>>(*FindPreset(preset),
                                                      seed);
  std::abort();
}

}  // namespace systole::vector_test
