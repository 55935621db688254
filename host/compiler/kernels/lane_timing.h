// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A model of docs/vpu.md, "Timing" and "Order and hazards": dispatch in order,
// a writer of a register behind its readers, steps that follow their sources.
// The unified buffer refuses nothing.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_TIMING_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_TIMING_H_

#include <array>
#include <cstdint>
#include <vector>

#include "systole/gen/presets.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {

class LaneTiming {
 public:
  // rows: of vl where it has no limit.
  LaneTiming(const Preset& preset, int rows)
      : rows_(rows), most_(rows), preset_(preset) {}

  void Run(const vpu::Instr& x);
  // The branch before was taken.
  void Branch();
  // The cycle in which the last instruction was issued.
  int64_t now() const { return issued_; }
  // When the register may be written again, and when the unit that writes it
  // has started all it holds.
  int64_t ReadyAt(int reg) const;
  int64_t FreeAt(int reg) const { return free_[reg / vpu::kBankRegs]; }

 private:
  // Behind those of the banks.
  static constexpr int kStoreUnit = vpu::kVectorRegs / vpu::kBankRegs;

  struct Register {
    int64_t first = 0, last = 0;  // when readers may start
    int64_t written = 0, read = 0;
  };
  struct Times {
    int unit = -1;  // executed at issue
    bool writes = false, by_step = false;
    int64_t issue = 0, dispatch = 0, start = 0, last = 0;
  };

  static int UnitOf(const vpu::Instr& x);
  Times Of(const vpu::Instr& x) const;

  int rows_;  // of the instructions that follow
  const int most_;
  const Preset& preset_;
  int64_t issued_ = 0, dispatched_ = 0;
  std::array<Register, vpu::kVectorRegs> registers_{};
  std::array<int64_t, kStoreUnit + 1> free_{};
  std::array<std::vector<int64_t>, kStoreUnit + 1> held_;  // ends
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_TIMING_H_
