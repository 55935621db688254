// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_timing.h"

#include <algorithm>

namespace systole::lanes {
namespace {

using vpu::Class;
using vpu::Kind;
using vpu::Op;

constexpr int kDepth = 6;            // instructions that a unit holds
constexpr int64_t kToUnit = 3;       // from dispatch to the first row
constexpr int64_t kBranch = 3;       // a taken branch
constexpr int64_t kLoadedWord = 10;  // lds
constexpr int64_t kStored = 4;       // from a row's start to its write

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

}  // namespace

void LaneTiming::Run(const vpu::Instr& x) {
  if (x.op == Op::kVl) rows_ = x.imm > 0 ? std::min(x.imm, most_) : most_;
  const Times t = Of(x);
  issued_ = t.issue + (x.op == Op::kLds ? kLoadedWord : 0);
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

void LaneTiming::Branch() { issued_ += kBranch - 1; }

int64_t LaneTiming::ReadyAt(int reg) const {
  return std::max(registers_[reg].written, registers_[reg].read + 1);
}

// The unit of a vector instruction: that of its destination's bank, or behind
// these the store unit; -1: it is executed at issue.
int LaneTiming::UnitOf(const vpu::Instr& x) {
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

// When an instruction is issued, dispatched, and starts its first and its
// last row or step.
LaneTiming::Times LaneTiming::Of(const vpu::Instr& x) const {
  const vpu::OpInfo& op = *vpu::FindOp(static_cast<uint8_t>(x.op));
  Times t;
  t.issue = issued_ + 1;
  // A fence waits for older stores, halt for loads too.
  if (x.op == Op::kFence || x.op == Op::kHalt)
    t.issue = std::max(t.issue, free_[kStoreUnit] + kStored);
  for (int unit = 0; unit < 2 && x.op == Op::kHalt; ++unit)
    t.issue = std::max(t.issue, free_[unit] + LatencyOf(Op::kLd32));
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

}  // namespace systole::lanes
