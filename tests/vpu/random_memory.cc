// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of random programs: in range, and no load of bytes whose
// store may still be on its way.

#include <algorithm>
#include <cstdlib>

#include "tests/vpu/generator.h"

namespace systole::vpu {

void Generator::Address(Instr* x, uint32_t first, int stride_reg) {
  // The address register: one whose value is known; in a loop the one that
  // moves, too.
  int a;
  do {
    a = Below(kScalarRegs);
  } while (!Known(a));
  if (moving_) a = kBump;
  x->a = static_cast<uint8_t>(a);
  x->am = x->bm = static_cast<uint8_t>(Mode::kScalar);
  x->b = static_cast<uint8_t>(stride_reg);
  x->imm = static_cast<int32_t>(first - *scalar_[a]);
}

int Generator::Stride(uint32_t bytes, uint32_t size) {
  for (int tries = 0; tries < 20; ++tries) {
    const int b = Below(kScalarRegs);
    if (!Known(b)) continue;
    const int64_t stride = static_cast<int32_t>(*scalar_[b]);
    if (std::abs(stride) * (vl_ - 1) + bytes <= size) return b;
  }
  return 0;
}

std::pair<int64_t, int64_t> Generator::Span(int b, uint32_t bytes) const {
  const int64_t far = int64_t{static_cast<int32_t>(*scalar_[b])} * (vl_ - 1);
  return {std::min<int64_t>(far, 0), std::max<int64_t>(far, 0) + bytes};
}

std::optional<uint32_t> Generator::Place(int b, uint32_t bytes, uint32_t begin,
                                         uint32_t size, bool moving) {
  const auto [low, high] = Span(b, bytes);
  const int64_t travel = moving ? int64_t{loop_step_} * (loop_rounds_ - 1) : 0;
  const int64_t first = int64_t{begin} - low - std::min<int64_t>(travel, 0);
  const int64_t last =
      int64_t{begin} + size - high - std::max<int64_t>(travel, 0);
  if (first > last) return std::nullopt;
  // Edges often; the end of the read-only bytes is that of the memory.
  if (Chance(10)) return static_cast<uint32_t>(last);
  if (Chance(10)) return static_cast<uint32_t>(first);
  uint32_t at = static_cast<uint32_t>(
      first + static_cast<int64_t>(random_() % (last - first + 1)));
  if (Chance(50))
    at = std::max<uint32_t>(at & ~3u, static_cast<uint32_t>(first));
  return at;
}

void Generator::Load(int d) {
  if (Chance(12)) return LoadAcc(d);
  Instr x;
  x.op = Pick({Op::kLd32, Op::kLd32, Op::kLd16, Op::kLd8});
  x.d = static_cast<uint8_t>(d);
  const uint32_t bytes = ElementBytes(x.op) * lanes_;
  moving_ = in_loop_ && Chance(60);
  // Bytes that the program writes, where no store is on its way.
  const bool written = !(in_loop_ && !loop_fenced_) && Chance(35);
  for (int tries = 0; tries < 8; ++tries) {
    const uint32_t begin = written && tries < 7 ? write_at_ : read_at_;
    const uint32_t size = begin == read_at_ ? read_size_ : write_size_;
    const int b = Stride(bytes, size);
    const auto at = Place(b, bytes, begin, size, moving_);
    if (!at || (begin == write_at_ && !Clean(b, *at, bytes))) continue;
    Address(&x, *at, b);
    Emit(x);
    Wrote(d);
    last_load_ = {*at, b};
    return;
  }
}

void Generator::LoadWord() {
  Instr x;
  x.op = Op::kLds;
  do {
    x.d = static_cast<uint8_t>(Chance(10) ? 0 : Between(7, kScalarRegs - 1));
  } while (x.d == kBump || x.d == kCount);
  const int rows = std::exchange(vl_, 1);
  moving_ = in_loop_ && Chance(60);
  const bool written = !(in_loop_ && !loop_fenced_) && Chance(50);
  for (int tries = 0; tries < 8; ++tries) {
    const uint32_t begin = written && tries < 7 ? write_at_ : read_at_;
    const uint32_t size = begin == read_at_ ? read_size_ : write_size_;
    const auto at = Place(0, 4, begin, size, moving_);
    if (!at || (begin == write_at_ && !Clean(0, *at, 4))) continue;
    Address(&x, *at, 0);
    x.bm = 0;
    Emit(x);
    if (x.d != 0) scalar_[x.d].reset();
    break;
  }
  vl_ = rows;
}

void Generator::LoadAcc(int d) {
  Instr x;
  x.op = Op::kLdacc, x.d = static_cast<uint8_t>(d);
  moving_ = false;
  const uint32_t first = static_cast<uint32_t>(
      p_.acc[Below(static_cast<int>(p_.acc.size()))].first);
  const int b = Stride(1, 2 * rows_max_);
  const auto at = Place(b, 1, first, 2 * rows_max_, false);
  if (!at) return;
  Address(&x, *at, b);
  Emit(x);
  Wrote(d);
}

bool Generator::Clean(int b, uint32_t at, uint32_t bytes) {
  bool clean = !loop_stored_;
  EachByte(b, at, bytes, [&](size_t i) { clean = clean && !dirty_[i]; });
  return clean;
}

void Generator::Store() {
  const std::optional<int> v = Written(vl_);
  if (!v) return;
  Instr x;
  x.op = Pick({Op::kSt32, Op::kSt32, Op::kSt16, Op::kSt8, Op::kSt16h});
  x.d = static_cast<uint8_t>(*v);
  const uint32_t bytes = ElementBytes(x.op) * lanes_;
  moving_ = in_loop_ && Chance(60);
  int b = Stride(bytes, write_size_);
  auto at = Place(b, bytes, write_at_, write_size_, moving_);
  // Onto what a load has just read.
  if (!moving_ && last_load_.first >= write_at_ && Chance(50) &&
      Known(last_load_.second)) {
    const auto [low, high] = Span(last_load_.second, bytes);
    if (last_load_.first + low >= write_at_ &&
        last_load_.first + high <= write_at_ + write_size_) {
      at = last_load_.first;
      b = last_load_.second;
    }
  }
  if (!at) return;
  Address(&x, *at, b);
  Emit(x);
  if (in_loop_) loop_stored_ = true;
  EachByte(b, *at, bytes, [&](size_t i) { dirty_[i] = true; });
}

}  // namespace systole::vpu
