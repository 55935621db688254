// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// State of the programmable vector unit that persists between descriptors, and
// the accesses of its last program.
#ifndef SYSTOLE_SIM_ISS_VPU_STATE_H_
#define SYSTOLE_SIM_ISS_VPU_STATE_H_

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/iss/range_set.h"
#include "systole/gen/presets.h"
#include "systole/gen/vpu.h"

namespace systole::iss {

struct VpuState {
  // An instruction as loaded, and its decoded form.
  struct Slot {
    uint64_t word = 0;
    vpu::Instr x;
    const vpu::OpInfo* op = nullptr;
    std::string illegal;  // the reason, if it is illegal
  };

  explicit VpuState(const Preset& preset);
  uint32_t* row(int v, int r) {
    return &regs[static_cast<size_t>(v * rows + r) * cols];
  }
  const uint32_t* row(int v, int r) const {
    return &regs[static_cast<size_t>(v * rows + r) * cols];
  }
  // Makes the registers' values undefined.
  void Forget(uint64_t seed);

  int64_t cols;
  int rows;                                             // of a register
  std::vector<Slot> imem;                               // empty in int8 cores
  std::vector<uint32_t> regs;                           // [register][row][lane]
  std::array<uint32_t, vpu::kVectorRegs> written = {};  // bit r: row r

 private:
  std::vector<uint32_t> undefined_;  // register contents after Forget
  uint64_t undefined_seed_ = 0;
};

// Bytes and rows accessed by one vrun, and the rules of docs/vpu.md that it
// violated. Only kept if `enabled`.
class VrunLog {
 public:
  struct Problem {
    uint32_t pc;
    std::string text;
  };

  bool enabled = false;

  void Start() {
    reads.Clear();
    writes.Clear();
    acc_reads.Clear();
    unfenced_.Clear();
    seen_.clear();
    problems.clear();
  }
  void Fence() { unfenced_.Clear(); }
  void Load(uint32_t pc, const Range& bytes);
  void LoadAcc(uint64_t row) { acc_reads.Add({row, row + 1}); }
  void Store(const Range& bytes) {
    writes.Add(bytes);
    unfenced_.Add(bytes);
  }
  // Row r of register v was read but never written.
  void Unwritten(uint32_t pc, int v, int r);

  RangeSet reads;  // unified buffer, without what the vrun itself wrote
  RangeSet writes, acc_reads;
  std::vector<Problem> problems;  // first of each kind per pc

 private:
  RangeSet unfenced_;  // stored since the last fence
  std::set<std::pair<uint32_t, char>> seen_;
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_VPU_STATE_H_
