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
  // What an instruction means for the times.
  struct Step {
    vpu::Op op;
    int unit = -1;  // executed at issue
    bool writes = false, by_step = false;
    int d = 0;
    int32_t imm = 0;
    int latency = 0;  // from the start of a row or step to a reader's
    int count = 0;    // of the sources
    std::array<int, 4> sources{};  // vector registers
    // Of a load from the unified buffer whose addresses are known, but for what
    // all have in common: the first row's byte, modulo one of each bank's
    // words, and bytes from row to row; whether a row lies in two words.
    int at = -1, stride = 0;
    bool both = false;
  };

  // When an instruction is issued, dispatched, and starts its first and its
  // last row or step.
  struct Times {
    int64_t issue = 0, dispatch = 0, start = 0, last = 0;
  };

  // rows: of vl where it has no limit. strides: in the scalar registers with
  // distances between rows, bytes; -1: not known.
  using Strides = std::array<int64_t, vpu::kScalarRegs>;
  static constexpr Strides NoStrides() {
    Strides none{};
    for (int64_t& stride : none) stride = -1;
    return none;
  }
  LaneTiming(const Preset& preset, int rows,
             const Strides& strides = NoStrides());

  Step StepOf(const vpu::Instr& x) const;
  // Cycles from the start of a row or step to a reader's.
  static int LatencyOf(vpu::Op op);

  void Run(const Step& x);
  void Run(const vpu::Instr& x) { Run(StepOf(x)); }
  // Those of an instruction if it came next; of a load the banks of the first
  // row count.
  Times Of(const Step& x) const;
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
  static constexpr int kDepth = 6;  // instructions that a unit holds

  struct Register {
    int64_t first = 0, last = 0;  // when readers may start
    int64_t written = 0, read = 0;
  };
  // Ends of the instructions that a unit holds, from the oldest one on.
  struct Held {
    std::array<int64_t, kDepth> ends{};
    int oldest = 0;
  };

  // The banks that a load unit reads in the cycles around, by cycle.
  static constexpr int kCycles = 256;
  struct Reads {
    std::array<int64_t, kCycles> cycle{};
    std::array<uint32_t, kCycles> banks{};
  };
  uint32_t BanksOf(const Step& x, int row) const;
  // When a load's row that could start in a cycle gets its banks.
  int64_t GrantOf(const Step& x, int row, int64_t cycle) const;
  // A load reads from a cycle on. Returns the last row's cycle.
  int64_t Read(const Step& x, int64_t start);

  int rows_;  // of the instructions that follow
  int most_, lanes_;
  int word_bytes_, banks_;
  Strides strides_;
  std::array<Reads, 2> reads_;
  int64_t issued_ = 0, dispatched_ = 0;
  std::array<Register, vpu::kVectorRegs> registers_{};
  std::array<int64_t, kStoreUnit + 1> free_{};
  std::array<Held, kStoreUnit + 1> held_{};
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_TIMING_H_
