// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_timing.h"

#include <algorithm>

namespace systole::lanes {
namespace {

using vpu::Class;
using vpu::Kind;
using vpu::Op;

constexpr int64_t kToUnit = 3;       // from dispatch to the first row
constexpr int64_t kBranch = 3;       // a taken branch
constexpr int64_t kLoadedWord = 10;  // lds
constexpr int64_t kStored = 4;       // from a row's start to its write

// As FindOp, at once.
const vpu::OpInfo& InfoOf(Op op) {
  static const auto* const kInfos = [] {
    auto* infos = new std::array<const vpu::OpInfo*, 256>;
    for (int i = 0; i < 256; ++i)
      (*infos)[i] = vpu::FindOp(static_cast<uint8_t>(i));
    return infos;
  }();
  return *(*kInfos)[static_cast<uint8_t>(op)];
}

// The unit of a vector instruction: that of its destination's bank, or behind
// these the store unit; -1: it is executed at issue.
int UnitOf(const vpu::Instr& x) {
  switch (static_cast<Class>(static_cast<int>(x.op) >> 4)) {
    case Class::kScalar:
    case Class::kControl:
      return -1;
    case Class::kLoad:
      return x.op == Op::kLds ? -1 : x.d / vpu::kBankRegs;
    case Class::kStore:
      return vpu::kVectorRegs / vpu::kBankRegs;
    default:
      return x.op == Op::kTpush ? static_cast<int>(vpu::Bank::kX)
                                : x.d / vpu::kBankRegs;
  }
}

}  // namespace

LaneTiming::LaneTiming(const Preset& preset, int rows, const Strides& strides)
    : rows_(rows),
      most_(rows),
      lanes_(static_cast<int>(preset.sublanes)),
      word_bytes_(static_cast<int>(preset.word_bytes())),
      banks_(static_cast<int>(preset.ub_banks)),
      strides_(strides) {}

int LaneTiming::LatencyOf(Op op) {
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

LaneTiming::Step LaneTiming::StepOf(const vpu::Instr& x) const {
  Step step;
  step.op = x.op;
  step.unit = UnitOf(x);
  step.writes = step.unit >= 0 && step.unit != kStoreUnit && x.op != Op::kTpush;
  step.by_step = step.unit >= static_cast<int>(vpu::Bank::kAlu0) &&
                 step.unit != kStoreUnit && x.op != Op::kRotrow &&
                 x.op != Op::kTpush && x.op != Op::kTpop;
  step.d = x.d;
  step.imm = x.imm;
  step.latency = LatencyOf(x.op);
  const vpu::OpInfo& op = InfoOf(x.op);
  const auto add = [&](Kind kind, int reg, int mode) {
    const bool vector =
        kind == Kind::kVfrom || kind == Kind::kVrow ||
        (kind == Kind::kVsrc && mode != static_cast<int>(vpu::Mode::kScalar));
    if (vector) step.sources[step.count++] = reg;
  };
  add(op.d, x.d, 0);
  add(op.a, x.a, x.am);
  add(op.b, x.b, x.bm);
  add(op.c, x.c, x.cm);
  const bool reads =
      op.cls == Class::kLoad && x.op != Op::kLds && x.op != Op::kLdacc;
  const int64_t stride = x.b == 0 ? 0 : strides_[x.b];
  if (reads && stride >= 0) {
    // Short rows, close to each other, may lie in a word.
    const int all = banks_ * word_bytes_;
    step.at = (x.imm % all + all) % all;
    step.stride = static_cast<int>(stride % all);
    step.both = stride % word_bytes_ == 0 && x.imm % word_bytes_ != 0;
  }
  return step;
}

uint32_t LaneTiming::BanksOf(const Step& x, int row) const {
  const int word = (x.at + row * x.stride) / word_bytes_;
  const uint32_t first = 1u << word % banks_;
  return x.both ? first | 1u << (word + 1) % banks_ : first;
}

int64_t LaneTiming::GrantOf(const Step& x, int row, int64_t cycle) const {
  const Reads& other = reads_[1 - x.unit];
  const uint32_t banks = BanksOf(x, row);
  while (other.cycle[cycle % kCycles] == cycle &&
         (other.banks[cycle % kCycles] & banks) != 0)
    ++cycle;
  return cycle;
}

int64_t LaneTiming::Read(const Step& x, int64_t start) {
  Reads& own = reads_[x.unit];
  int64_t cycle = start;
  for (int row = 0; row < rows_; ++row, ++cycle) {
    cycle = GrantOf(x, row, cycle);
    own.cycle[cycle % kCycles] = cycle;
    own.banks[cycle % kCycles] = BanksOf(x, row);
  }
  return cycle - 1;
}

void LaneTiming::Run(const Step& x) {
  if (x.op == Op::kVl) rows_ = x.imm > 0 ? std::min(x.imm, most_) : most_;
  Times t = Of(x);
  issued_ = t.issue + (x.op == Op::kLds ? kLoadedWord : 0);
  if (x.unit < 0) return;
  dispatched_ = t.dispatch;
  if (x.at >= 0) t.last = std::max(t.last, Read(x, t.start));
  free_[x.unit] = t.last + 1;
  Held& held = held_[x.unit];
  held.ends[held.oldest] = t.last;
  held.oldest = (held.oldest + 1) % kDepth;
  for (int i = 0; i < x.count; ++i) {
    Register& source = registers_[x.sources[i]];
    source.read = std::max(source.read, t.last);
  }
  if (!x.writes) return;
  Register& d = registers_[x.d];
  d.first = t.start + x.latency + (x.by_step ? 0 : std::min(lanes_, rows_) - 1);
  d.last = d.written = t.last + x.latency;
}

void LaneTiming::Branch() { issued_ += kBranch - 1; }

int64_t LaneTiming::ReadyAt(int reg) const {
  return std::max(registers_[reg].written, registers_[reg].read + 1);
}

LaneTiming::Times LaneTiming::Of(const Step& x) const {
  Times t;
  t.issue = issued_ + 1;
  // A fence waits for older stores, halt for loads too.
  if (x.op == Op::kFence || x.op == Op::kHalt)
    t.issue = std::max(t.issue, free_[kStoreUnit] + kStored);
  for (int unit = 0; unit < 2 && x.op == Op::kHalt; ++unit)
    t.issue = std::max(t.issue, free_[unit] + LatencyOf(Op::kLd32));
  t.start = t.issue;
  if (x.unit < 0) return t;
  t.dispatch = std::max(t.issue + 1, dispatched_ + 1);
  if (x.writes)
    t.dispatch = std::max(
        {t.dispatch, registers_[x.d].written, registers_[x.d].read + 1});
  const Held& held = held_[x.unit];
  t.dispatch = std::max(t.dispatch, held.ends[held.oldest] + 1);
  t.issue = std::max(t.issue, t.dispatch - 1);
  const int count = x.by_step ? (rows_ + lanes_ - 1) / lanes_ : rows_;
  t.start = std::max(t.dispatch + kToUnit, free_[x.unit]);
  for (int i = 0; i < x.count; ++i) {
    const int reg = x.sources[i];
    if (x.writes && reg == x.d) continue;
    t.start = std::max(t.start, registers_[reg].first);
    t.last = std::max(t.last, registers_[reg].last);
  }
  if (x.at >= 0) t.start = GrantOf(x, 0, t.start);
  t.last = std::max(t.last, t.start + count - 1);
  return t;
}

}  // namespace systole::lanes
