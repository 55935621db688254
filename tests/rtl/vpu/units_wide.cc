// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include <cstdlib>
#include <memory>

#include "Vvpu_v2.h"
#include "tests/rtl/vpu/ports.h"

namespace systole::vpu_test {

std::vector<const char*> Presets() { return {"v2"}; }

std::unique_ptr<Unit> MakeUnit(std::string_view preset, uint32_t seed) {
  if (preset == "v2")
    return std::make_unique<Verilated<Vvpu_v2>>(*FindPreset(preset), seed);
  std::abort();
}

}  // namespace systole::vpu_test
