// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What a chip and its cores can do. Whatever above the driver decides by that
// asks here, not for a preset's name or the cell of its array.
//
//   const Target target(preset);
//   if (!target.quantised_networks()) return absl::UnimplementedError(...);
#ifndef SYSTOLE_TARGET_H_
#define SYSTOLE_TARGET_H_

#include <string>
#include <vector>

#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole {

using ChipSpec = ChipConfig;
using CoreSpec = CoreConfig;

class Target {
 public:
  constexpr explicit Target(const Preset& preset)
      : chip_(&preset.chip), core_(&preset) {}

  constexpr const ChipSpec& chip() const { return *chip_; }
  constexpr const CoreSpec& core() const { return *core_; }

  // Networks of int8 layers: products of int8, the quantising vector unit.
  constexpr bool quantised_networks() const {
    return core_->cell == Cell::kInt8;
  }
  // Modules of floats and training: products of bf16, the programmable vector
  // unit.
  constexpr bool float_modules() const { return core_->cell == Cell::kBf16; }
  // A requantise may add the second operand of a residual addition.
  constexpr bool residual_requantise() const { return core_->residual == 1; }
  // Weight tiles come from memory straight into the array's FIFO; otherwise by
  // way of the unified buffer.
  constexpr bool weights_from_memory() const {
    return core_->cell == Cell::kInt8;
  }
  // What a core's memory moves at most: a beat of HBM a cycle; the DRAM of a
  // board is 16 bits wide (docs/dram.md).
  constexpr int64_t memory_bytes_per_cycle() const {
    constexpr int64_t kDramBytes = 2;
    return chip_->memory == Memory::kAxi ? kDramBytes : core_->beat_bytes();
  }
  // Cycles that a beat takes the memory.
  constexpr int64_t cycles_per_beat() const {
    return (core_->beat_bytes() + memory_bytes_per_cycle() - 1) /
           memory_bytes_per_cycle();
  }
  // The cores have the operation.
  bool Executes(const isa::OpInfo& op) const {
    return op.Has(core_->cell, chip_->link_bytes != 0);
  }

  // Whether the unified buffer has room for so many bytes of an input and of
  // results, both twice, in shares that the compiler tries (layer_fit.cc).
  bool HoldsTwice(int64_t input, int64_t results) const {
    constexpr int kAll = 90;  // percent
    for (const int share : {81, 67, 45}) {
      if (200 * input <= core_->ub_bytes * share &&
          200 * results <= core_->ub_bytes * (kAll - share))
        return true;
    }
    return false;
  }

 private:
  const ChipSpec* chip_;
  const CoreSpec* core_;
};

// Names of the presets that can.
template <typename Can>  // bool(const Target&)
std::vector<std::string> PresetsThat(Can can) {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) {
    if (can(Target(preset))) names.emplace_back(preset.name);
  }
  return names;
}

}  // namespace systole

#endif  // SYSTOLE_TARGET_H_
