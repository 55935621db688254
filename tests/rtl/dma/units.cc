// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "Vload_mini.h"
#include "Vload_nano.h"
#include "Vload_v1.h"
#include "Vstore_mini.h"
#include "Vstore_nano.h"
#include "Vstore_v1.h"
#include "Vweights_nano.h"
#include "Vweights_v1.h"
#include "tests/rtl/dma/verilated_unit.h"

namespace systole::dma_test {
namespace {

template <typename Nano, typename V1>
std::unique_ptr<Unit> Make(Kind kind, std::string_view preset, uint32_t seed) {
  const Preset& p = *FindPreset(preset);
  if (preset == "nano") {
    return std::make_unique<VerilatedUnit<Nano>>(kind, p, seed);
  }
  return std::make_unique<VerilatedUnit<V1>>(kind, p, seed);
}

}  // namespace

std::unique_ptr<Unit> MakeUnit(Kind kind, std::string_view preset,
                               uint32_t seed) {
  const Preset& p = *FindPreset(preset);
  if (preset == "mini" && kind == Kind::kLoad)
    return std::make_unique<VerilatedUnit<Vload_mini>>(kind, p, seed);
  if (preset == "mini")
    return std::make_unique<VerilatedUnit<Vstore_mini>>(kind, p, seed);
  switch (kind) {
    case Kind::kLoad:
      return Make<Vload_nano, Vload_v1>(kind, preset, seed);
    case Kind::kStore:
      return Make<Vstore_nano, Vstore_v1>(kind, preset, seed);
    case Kind::kWeights:
      return Make<Vweights_nano, Vweights_v1>(kind, preset, seed);
  }
  return nullptr;
}

}  // namespace systole::dma_test
