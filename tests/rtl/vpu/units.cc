// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include <cstdlib>
#include <memory>

#include "Vvpu_hardware.h"
#include "Vvpu_mini.h"
#include "Vvpu_single.h"
#include "tests/rtl/vpu/ports.h"

namespace systole::vpu_test {

std::vector<const char*> Presets() { return {"mini", "single", "hardware"}; }

std::unique_ptr<Unit> MakeUnit(std::string_view preset, uint32_t seed) {
  if (preset == "mini")
    return std::make_unique<Verilated<Vvpu_mini>>(*FindPreset(preset), seed);
  if (preset == "single") {
    static const Preset one = [] {
      Preset p = *FindPreset("mini");
      p.sublanes = 1;
      return p;
    }();
    return std::make_unique<Verilated<Vvpu_single>>(one, seed);
  }
  if (preset == "hardware") {
    return std::make_unique<Verilated<Vvpu_hardware>>(*FindPreset("mini"),
                                                      seed);
  }
  std::abort();
}

}  // namespace systole::vpu_test
