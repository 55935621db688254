// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A model of docs/vpu.md, "Timing" and "Order and hazards": dispatch in order,
// a writer of a register behind its readers, steps that follow their sources.
#include "host/compiler/kernels/lane_cost.h"

#include <algorithm>
#include <array>

#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

using vpu::Class;
using vpu::Kind;
using vpu::Op;

// Behind those of the banks.
constexpr int kStoreUnit = vpu::kVectorRegs / vpu::kBankRegs;
constexpr int kDepth = 6;       // instructions that a unit holds
constexpr int64_t kToUnit = 3;  // from dispatch to the first row
constexpr int64_t kBranch = 3;  // a taken branch
constexpr int64_t kWord = 10;   // lds

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
      return kStoreUnit;
    default:
      return static_cast<vpu::Op>(x.op) == vpu::Op::kTpush
                 ? static_cast<int>(vpu::Bank::kX)
                 : x.d / vpu::kBankRegs;
  }
}

// Cycles from the start of a row or step to a reader's.
int64_t LatencyOf(Op op) {
  switch (static_cast<Class>(static_cast<int>(op) >> 4)) {
    case Class::kLoad:
      return 4;
    case Class::kFunction:
      return 15;
    case Class::kCross:
      return op == Op::kRnd ? 8 : op == Op::kTpop ? 6 : 3;
    default:
      return 8;
  }
}

// Vector registers that an instruction reads.
std::vector<int> SourcesOf(const vpu::Instr& x) {
  const vpu::OpInfo& op = *vpu::FindOp(static_cast<uint8_t>(x.op));
  std::vector<int> sources;
  const auto add = [&](Kind kind, int reg, int mode) {
    const bool vector =
        kind == Kind::kVfrom || kind == Kind::kVrow ||
        (kind == Kind::kVsrc && mode != static_cast<int>(vpu::Mode::kScalar));
    if (vector) sources.push_back(reg);
  };
  add(op.d, x.d, 0);
  add(op.a, x.a, x.am);
  add(op.b, x.b, x.bm);
  add(op.c, x.c, x.cm);
  return sources;
}

class Timing {
 public:
  // rows: of vl where it has no limit.
  Timing(const Preset& preset, int rows)
      : rows_(rows), most_(rows), preset_(preset) {}

  void Run(const vpu::Instr& x) {
    if (x.op == Op::kVl) rows_ = x.imm > 0 ? std::min(x.imm, most_) : most_;
    const Times t = Of(x);
    issued_ = t.issue + (x.op == Op::kLds ? kWord : 0);
    if (t.unit < 0) return;
    dispatched_ = t.dispatch;
    free_[t.unit] = t.last + 1;
    held_[t.unit].push_back(t.last);
    for (const int reg : SourcesOf(x))
      registers_[reg].read = std::max(registers_[reg].read, t.last);
    if (!t.writes) return;
    Register& d = registers_[x.d];
    const int64_t latency = LatencyOf(x.op);
    const auto lanes = static_cast<int>(preset_.sublanes);
    d.first = t.start + latency + (t.by_step ? 0 : std::min(lanes, rows_) - 1);
    d.last = d.written = t.last + latency;
  }
  void Branch() { issued_ += kBranch - 1; }
  int64_t now() const { return issued_; }

 private:
  struct Register {
    int64_t first = 0, last = 0;  // when readers may start
    int64_t written = 0, read = 0;
  };
  struct Times {
    int unit = -1;  // executed at issue
    bool writes = false, by_step = false;
    int64_t issue = 0, dispatch = 0, start = 0, last = 0;
  };

  // When an instruction is issued, dispatched, and starts its first and its
  // last row or step.
  Times Of(const vpu::Instr& x) const {
    const vpu::OpInfo& op = *vpu::FindOp(static_cast<uint8_t>(x.op));
    Times t;
    t.issue = issued_ + 1;
    t.start = t.issue;
    if (op.cls <= Class::kControl || x.op == Op::kLds) return t;
    t.unit = UnitOf(x);
    t.writes = t.unit != kStoreUnit && x.op != Op::kTpush;
    t.dispatch = std::max(t.issue + 1, dispatched_ + 1);
    if (t.writes)
      t.dispatch = std::max(
          {t.dispatch, registers_[x.d].written, registers_[x.d].read + 1});
    const std::vector<int64_t>& held = held_[t.unit];
    if (held.size() >= kDepth)
      t.dispatch = std::max(t.dispatch, held[held.size() - kDepth] + 1);
    t.issue = std::max(t.issue, t.dispatch - 1);
    t.by_step = t.unit >= static_cast<int>(vpu::Bank::kAlu0) &&
                t.unit != kStoreUnit && x.op != Op::kRotrow &&
                x.op != Op::kTpush && x.op != Op::kTpop;
    const auto lanes = static_cast<int>(preset_.sublanes);
    const int count = t.by_step ? (rows_ + lanes - 1) / lanes : rows_;
    t.start = std::max(t.dispatch + kToUnit, free_[t.unit]);
    for (const int reg : SourcesOf(x)) {
      if (t.writes && reg == x.d) continue;
      t.start = std::max(t.start, registers_[reg].first);
      t.last = std::max(t.last, registers_[reg].last);
    }
    t.last = std::max(t.last, t.start + count - 1);
    return t;
  }

  int rows_;  // of the instructions that follow
  const int most_;
  const Preset& preset_;
  int64_t issued_ = 0, dispatched_ = 0;
  std::array<Register, vpu::kVectorRegs> registers_{};
  std::array<int64_t, kStoreUnit + 1> free_{};
  std::array<std::vector<int64_t>, kStoreUnit + 1> held_;  // ends
};

}  // namespace

double IterationCycles(const std::vector<uint64_t>& words, int64_t rows,
                       const Preset& preset) {
  constexpr int kBefore = 4, kMeasured = 8;  // iterations
  Timing timing(preset, static_cast<int>(rows));
  int64_t start = 0;
  for (int i = 0; i < kBefore + kMeasured; ++i) {
    if (i == kBefore) start = timing.now();
    for (const uint64_t word : words) timing.Run(vpu::Instr::Decode(word));
    timing.Branch();
  }
  return static_cast<double>(timing.now() - start) / kMeasured;
}

double RowCycles(const std::vector<uint64_t>& words, size_t first, int groups,
                 const Preset& preset) {
  const auto begin = words.begin() + static_cast<int64_t>(first);
  const int64_t rows = preset.vector_rows();
  return IterationCycles({begin, words.end()}, rows, preset) /
         static_cast<double>(groups * rows);
}

}  // namespace systole::lanes
