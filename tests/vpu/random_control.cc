// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Scalars, branches, loops, the transposer and faults of random programs.

#include <algorithm>

#include "tests/vpu/generator.h"

namespace systole::vpu {

void Generator::Fence() {
  EmitOp(Op::kFence);
  if (in_loop_ && !loop_fenced_) return;
  std::fill(dirty_.begin(), dirty_.end(), false);
  loop_stored_ = false;
}

void Generator::Transposer() {
  if (transposing_) return;
  transposing_ = true;
  for (const bool push : {true, false}) {
    // Not all rows may be pushed, nor all columns popped.
    const bool whole = Chance(60);
    for (int left = whole ? lanes_max_ : Between(1, lanes_max_); left > 0;) {
      if (Chance(30) && lanes_max_ <= 16 && left > 1)
        SetVl(Between(1, std::min(left, rows_max_)));
      if (vl_ > left || lanes_max_ > 16) SetVl(std::min(left, rows_max_));
      Instr x;
      x.op = push ? Op::kTpush : Op::kTpop;
      if (push) Source(-1, &x.a, &x.am);
      if (!push) x.d = static_cast<uint8_t>(Between(32, 39));
      Emit(x);
      if (!push) Wrote(x.d);
      left -= vl_;
      if (Chance(lanes_max_ > 16 ? 10 : 50)) Item();
    }
  }
  transposing_ = false;
}

void Generator::Scalar() {
  Instr x;
  x.op = Pick({Op::kLi, Op::kAdd, Op::kAddi, Op::kSub, Op::kMul, Op::kSlli,
               Op::kSrli, Op::kAnd});
  const OpInfo& op = *FindOp(static_cast<uint8_t>(x.op));
  // s1..s6 hold strides, s13 and s14 the state of loops.
  do {
    x.d = static_cast<uint8_t>(Chance(10) ? 0 : Between(7, kScalarRegs - 1));
  } while (x.d == kBump || x.d == kCount);
  if (op.a == Kind::kSsrc) x.a = static_cast<uint8_t>(Below(kScalarRegs));
  if (op.b == Kind::kSsrc) x.b = static_cast<uint8_t>(Below(kScalarRegs));
  if (op.imm != ImmKind::kNone)
    x.imm =
        op.imm == ImmKind::kShift ? Below(32) : static_cast<int32_t>(Value());
  Emit(x);
  if (x.d == 0) return;
  const auto a = Known(x.a), b = Known(x.b);
  const uint32_t imm = static_cast<uint32_t>(x.imm);
  std::optional<uint32_t> r;
  if (x.op == Op::kLi) r = imm;
  if (a && x.op == Op::kAddi) r = *a + imm;
  if (a && x.op == Op::kSlli) r = *a << imm;
  if (a && x.op == Op::kSrli) r = *a >> imm;
  if (a && b && x.op == Op::kAdd) r = *a + *b;
  if (a && b && x.op == Op::kSub) r = *a - *b;
  if (a && b && x.op == Op::kMul) r = *a * *b;
  if (a && b && x.op == Op::kAnd) r = *a & *b;
  scalar_[x.d] = r;
}

void Generator::Skip() {
  Instr x;
  x.op = Pick({Op::kBeq, Op::kBne, Op::kBlt});
  for (uint8_t* r : {&x.a, &x.b}) {
    do {
      *r = static_cast<uint8_t>(Below(kScalarRegs));
    } while (!Known(*r));
  }
  const int32_t a = static_cast<int32_t>(*scalar_[x.a]);
  const int32_t b = static_cast<int32_t>(*scalar_[x.b]);
  const bool taken = x.op == Op::kBeq   ? a == b
                     : x.op == Op::kBne ? a != b
                                        : a < b;
  const int at = Here();
  Emit(x);
  for (int n = Between(0, 4); n > 0; --n) {
    if (taken) {
      p_.words.push_back(random_());
    } else {
      Scalar();
      Load(Below(16));
    }
  }
  x.imm = static_cast<int32_t>(p_.vload.addr) + Here();
  p_.words[at] = x.Encode();
}

void Generator::Loop() {
  in_loop_ = true;
  loop_stored_ = false;
  loop_fenced_ = Chance(50);
  loop_rounds_ = Between(1, 4);
  loop_step_ = Pick<int>(
      {0, 4, static_cast<int>(preset_.cols) * 4, -8, Between(-64, 64)});
  if (!loop_fenced_) std::fill(dirty_.begin(), dirty_.end(), true);
  Li(kBump, Bits());
  Li(kCount, loop_rounds_);
  // What the body changes is not known at its start, in the second round.
  for (int s = 7; s < kScalarRegs; ++s) {
    if (s != kBump && s != kCount) scalar_[s].reset();
  }
  const int top = Here();
  SetVl(Between(1, rows_max_));
  SetLanes(Between(1, lanes_max_));
  for (int n = Between(2, 10); n > 0; --n) Item();
  if (loop_fenced_) EmitOp(Op::kFence);
  Instr x;
  x.op = Op::kAddi, x.d = x.a = kBump, x.imm = loop_step_;
  Emit(x);
  x.d = x.a = kCount, x.imm = -1;
  Emit(x);
  Instr branch;
  branch.op = Chance(50) ? Op::kBne : Op::kBlt;
  branch.a = branch.op == Op::kBlt ? 0 : kCount;
  branch.b = branch.op == Op::kBlt ? kCount : 0;
  branch.imm = static_cast<int32_t>(p_.vload.addr) + top;
  Emit(branch);
  scalar_[kBump] = *scalar_[kBump] + loop_step_ * loop_rounds_;
  scalar_[kCount] = 0;
  in_loop_ = moving_ = false;
  loop_stored_ = false;
  std::fill(dirty_.begin(), dirty_.end(), !loop_fenced_);
}

void Generator::Faulting() {
  Instr x;
  x.am = x.bm = static_cast<uint8_t>(Mode::kScalar);
  switch (Below(9)) {
    case 0: {  // any illegal word
      uint64_t word;
      do {
        word = random_();
        if (Chance(70)) {  // one bit of a legal instruction
          word = p_.words[Below(Here())] ^ uint64_t { 1 } << Below(64);
        }
      } while (WhyIllegal(word).empty());
      p_.words.push_back(word);
      return;
    }
    case 1:
    case 2: {
      Li(kScratch, Pick<uint32_t>({0, 0xFFFFFFFF, 0x80000000}));
      if (Chance(30)) Li(kScratch, lanes_max_ + 1);
      x.op = *scalar_[kScratch] == static_cast<uint32_t>(lanes_max_ + 1) ||
                     Chance(50)
                 ? Op::kLanes
                 : Op::kVl;
      x.a = kScratch, x.am = x.bm = 0;
      break;
    }
    case 3:  // the last row is the first one outside
      x.op = Pick({Op::kLd32, Op::kLd16, Op::kLd8}), x.d = Below(16);
      return Outside(x, preset_.ub_bytes, ElementBytes(x.op) * lanes_);
    case 4:
      x.op = Pick({Op::kSt32, Op::kSt16, Op::kSt8, Op::kSt16h});
      x.d = static_cast<uint8_t>(Written(vl_).value_or(0));
      return Outside(x, preset_.ub_bytes, ElementBytes(x.op) * lanes_);
    case 5:
      x.op = Op::kLdacc, x.d = Below(16);
      return Outside(x, preset_.acc_rows, 1);
    case 6:
      return FaultyTranspose();
    case 7:  // the last bytes are outside, or all
      x.op = Op::kLds, x.d = kScratch, x.bm = 0;
      x.imm = Chance(50) ? static_cast<int32_t>(preset_.ub_bytes) - Below(4)
                         : static_cast<int32_t>(Bits() | 0x80000000);
      break;
    default:
      x.op = Op::kBeq, x.am = x.bm = 0;
      x.imm = Pick<int32_t>({kImemWords, -1, 1 << 20, INT32_MIN});
      break;
  }
  Emit(x);
}

void Generator::FaultyTranspose() {
  Instr push, pop;
  push.op = Op::kTpush, push.a = 7,
  push.am = static_cast<uint8_t>(Mode::kScalar);
  pop.op = Op::kTpop, pop.d = 32;
  // More rows, or more columns, than a matrix has; with or without a row.
  const bool rows = Chance(40);
  if (Chance(70)) {
    SetVl(Between(1, std::min(rows_max_, lanes_max_)));
    Emit(push);
  }
  SetVl(Pick({3, 5, 7, 8}));
  for (int n = lanes_max_ / vl_ + 1; n > 0; --n) Emit(rows ? push : pop);
}

void Generator::Outside(Instr x, int64_t size, int64_t bytes) {
  const int64_t bad = Below(vl_);
  const int64_t stride = Between(1, 8);
  Li(kCount, static_cast<uint32_t>(stride));
  x.b = kCount;
  x.imm = static_cast<int32_t>(size - bytes + 1 - bad * stride);
  if (Chance(20)) x.imm = static_cast<int32_t>(Bits() | 0x80000000);
  Emit(x);
}

}  // namespace systole::vpu
