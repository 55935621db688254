// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_cost.h"

#include <algorithm>
#include <array>

#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

constexpr int kBanks = vpu::kVectorRegs / vpu::kBankRegs;

// The unit of a vector instruction: that of its destination's bank, or behind
// these the store unit; -1: it is executed at issue.
int UnitOf(const vpu::Instr& x) {
  const auto group = static_cast<vpu::Class>(static_cast<int>(x.op) >> 4);
  switch (group) {
    case vpu::Class::kScalar:
    case vpu::Class::kControl:
      return -1;
    case vpu::Class::kLoad:
      return static_cast<vpu::Op>(x.op) == vpu::Op::kLds ? -1
                                                         : x.d / vpu::kBankRegs;
    case vpu::Class::kStore:
      return kBanks;
    default:
      return x.d / vpu::kBankRegs;
  }
}

}  // namespace

double RowCycles(const std::vector<uint64_t>& words, size_t first, int groups,
                 const Preset& preset) {
  std::array<double, kBanks + 1> units{};
  double computed = 0;
  const double of_step = 1.0 / static_cast<double>(preset.sublanes);
  for (size_t i = first; i < words.size(); ++i) {
    const int unit = UnitOf(vpu::Instr::Decode(words[i]));
    if (unit < 0) continue;
    const auto bank = static_cast<vpu::Bank>(unit);
    const bool by_step = bank == vpu::Bank::kAlu0 || bank == vpu::Bank::kAlu1 ||
                         bank == vpu::Bank::kX;
    units[unit] += by_step ? of_step : 1;
    if (by_step) computed += of_step;
  }
  const double most = *std::max_element(units.begin(), units.end());
  // What is issued in a cycle each does not occupy a unit for longer.
  const auto issued = static_cast<double>(words.size() - first);
  const double rows = groups * preset.vector_rows();
  const double waits = groups > 1 ? most : std::max(most, computed);
  return std::max(issued / rows, waits / groups);
}

}  // namespace systole::lanes
