// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/rtl/vector/random_programs.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace systole::vector_test {
Generator::Generator(const Preset& preset, uint32_t seed)
    : preset_(preset), random_(seed) {
  const int64_t ub = preset.ub_bytes;
  const int64_t cut = ub / 8, half = ub * 9 / 16;
  if (Chance(50)) {
    params_ = {0, cut};
    first_ = {cut, half};
    second_ = {half, ub};
  } else {
    params_ = {ub - cut, ub};
    first_ = {0, ub - half};
    second_ = {ub - half, ub - cut};
  }
  if (Chance(50)) std::swap(first_, second_);
}

int64_t Generator::Range(int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random_);
}

int32_t Generator::Word() {
  static constexpr std::array<int32_t, 12> kExtremes = {
      INT32_MIN, INT32_MAX, INT32_MIN + 1, INT32_MAX - 1, 0, 1,
      -1,        1 << 30,   -(1 << 30),    (1 << 30) - 1, 3, -3};
  if (Chance(20)) return kExtremes[Range(0, kExtremes.size() - 1)];
  const int bits = static_cast<int>(Range(1, 32));
  return static_cast<int32_t>(static_cast<uint32_t>(random_())) >> (32 - bits);
}

int32_t Generator::Multiplier() {
  static constexpr std::array<int32_t, 7> kExtremes = {
      0, 1 << 30, INT32_MAX, (1 << 30) + 1, INT32_MIN, -1, 1};
  if (Chance(20)) return kExtremes[Range(0, kExtremes.size() - 1)];
  return static_cast<int32_t>(Range(1 << 30, INT32_MAX));
}

int Generator::Shift() {
  if (Chance(10)) return Chance(50) ? -31 : 30;
  return static_cast<int>(Chance(80) ? Range(-31, 4) : Range(-31, 30));
}

// Random contents take most of a large preset's time: they come again behind a
// prime number of elements, which is no difference of two places that a mistake
// would mix up.
template <typename T, typename Draw>
void Generator::Fill(std::vector<T>& memory, const Draw& draw) {
  constexpr size_t kPeriod = 16381;
  const size_t drawn = std::min(kPeriod, memory.size());
  std::generate_n(memory.begin(), drawn, draw);
  for (size_t at = drawn; at < memory.size(); at += kPeriod)
    std::copy_n(memory.begin(), std::min(kPeriod, memory.size() - at),
                memory.begin() + at);
}

void Generator::FillMemories(Memories* memories) {
  Fill(memories->ub, [this] {
    return Chance(10) ? uint8_t{0x80} : static_cast<uint8_t>(random_());
  });
  Fill(memories->acc, [this] { return Word(); });
  const int64_t block = preset_.param_block_bytes();
  for (int64_t at = params_.begin; at + block <= params_.end; at += block) {
    for (int64_t c = 0; c < preset_.cols; ++c) {
      const int32_t bias = Chance(30) ? 0 : Word();
      const int32_t multiplier = Multiplier();
      std::memcpy(&memories->ub[at + 4 * c], &bias, 4);
      std::memcpy(&memories->ub[at + 4 * (preset_.cols + c)], &multiplier, 4);
      memories->ub[at + 8 * preset_.cols + c] = static_cast<uint8_t>(Shift());
    }
  }
}

int64_t Generator::Place(const Region& region, int64_t extent) {
  const int64_t last = region.end - extent;
  if (Chance(15)) return last;
  return Range(region.begin, last);
}

void Generator::Clamps(int32_t* low, int32_t* high) {
  *low = -128;
  *high = 127;
  if (Chance(60)) return;
  *low = static_cast<int32_t>(Range(-128, 127));
  *high = static_cast<int32_t>(Range(*low, 127));
}

isa::Requant Generator::Requant() {
  isa::Requant d;
  const int64_t bank = preset_.acc_bank_rows();
  d.cols =
      static_cast<uint32_t>(Chance(50) ? preset_.cols : Range(1, preset_.cols));
  if (Chance(20)) d.header.flags |= isa::Requant::kRaw;
  if (Chance(30)) d.header.flags |= isa::Requant::kSingleRound;
  const int64_t len = d.cols * (d.header.flags & isa::Requant::kRaw ? 4 : 1);
  int64_t rows, extent;
  do {
    d.n = static_cast<uint32_t>(Range(1, 3));
    d.ny = static_cast<uint32_t>(Range(1, 7));
    d.nx = static_cast<uint32_t>(Range(1, Chance(20) ? bank : 12));
    d.dst_sx = static_cast<uint32_t>(Range(0, 2) ? len : Range(0, 3 * len));
    d.dst_pitch = static_cast<uint32_t>(Range(0, 2 * d.nx * len));
    d.dst_img_pitch = static_cast<uint32_t>(Range(0, 2 * d.ny * d.nx * len));
    rows = int64_t{d.n} * d.ny * d.nx;
    extent = int64_t{d.n - 1} * d.dst_img_pitch +
             int64_t{d.ny - 1} * d.dst_pitch + int64_t{d.nx - 1} * d.dst_sx +
             len;
  } while (rows > bank || extent > first_.end - first_.begin);
  d.dst = static_cast<uint32_t>(Place(Chance(50) ? first_ : second_, extent));
  d.acc = static_cast<uint32_t>(bank * Range(0, 1) + Range(0, bank - rows));
  const int64_t block = preset_.param_block_bytes();
  const int64_t blocks = (params_.end - params_.begin) / block;
  d.params =
      static_cast<uint32_t>(params_.begin + block * Range(0, blocks - 1));
  d.zp = static_cast<int32_t>(Range(-128, 127));
  Clamps(&d.clamp_min, &d.clamp_max);
  if (d.header.flags & isa::Requant::kRaw) return d;
  if (preset_.residual != 0 && Chance(40)) {
    Residual(&d);
  } else if (has_table_ && Chance(50)) {
    d.header.flags |= isa::Requant::kTable;
  }
  return d;
}

void Generator::Residual(isa::Requant* d) {
  d->header.flags |= isa::Requant::kResidual;
  if (Chance(50)) d->header.flags |= isa::Requant::kResidualWide;
  if (Chance(30)) d->header.flags |= isa::Requant::kResidualSingle;
  const Region& from =
      d->dst >= first_.begin && d->dst < first_.end ? second_ : first_;
  int64_t extent;
  do {
    d->src_sx = static_cast<uint32_t>(Range(0, 2 * d->cols));
    d->src_pitch = static_cast<uint32_t>(Range(0, 2 * d->nx * d->cols));
    d->src_img_pitch =
        static_cast<uint32_t>(Range(0, 2 * d->ny * d->nx * d->cols));
    extent = int64_t{d->n - 1} * d->src_img_pitch +
             int64_t{d->ny - 1} * d->src_pitch +
             int64_t{d->nx - 1} * d->src_sx + d->cols;
  } while (extent > from.end - from.begin);
  d->src = static_cast<uint32_t>(Place(from, extent));
  if (Chance(20) && d->dst_sx >= d->cols && d->dst_pitch >= d->nx * d->dst_sx &&
      d->dst_img_pitch >= d->ny * d->dst_pitch) {  // in place
    d->src = d->dst;
    d->src_sx = d->dst_sx;
    d->src_pitch = d->dst_pitch;
    d->src_img_pitch = d->dst_img_pitch;
  }
  d->src_zp = static_cast<int32_t>(Range(-128, 127));
  d->sum_zp = static_cast<int32_t>(Range(-128, 127));
  d->sum_mult1 = static_cast<uint32_t>(Multiplier());
  d->sum_mult = static_cast<uint32_t>(Multiplier());
  const bool usual = Chance(70);
  d->sum_shift1 = usual ? static_cast<int>(Range(-6, 0)) : Shift();
  d->sum_shift = usual ? static_cast<int>(Range(-24, -14)) : Shift();
  Clamps(&d->sum_min, &d->sum_max);
}

isa::Requant Generator::Overwrite(const isa::Requant& user) {
  isa::Requant d = Requant();
  d.header.flags = isa::Requant::kRaw;
  d.n = d.ny = 1;
  d.nx = 2;  // bias and multipliers, or a part of both
  d.cols = static_cast<uint32_t>(Range(1, preset_.cols));
  d.dst_sx = static_cast<uint32_t>(4 * preset_.cols);
  d.dst = user.params + static_cast<uint32_t>(4 * (preset_.cols - d.cols));
  d.acc = static_cast<uint32_t>(Range(0, preset_.acc_bank_rows() - 2));
  return d;
}

isa::Pool Generator::Pool() {
  isa::Pool d;
  const Region& from = Chance(50) ? first_ : second_;
  const Region& to = &from == &first_ ? second_ : first_;
  const bool sum = Chance(30);
  if (sum) {
    d.header.flags |= isa::Pool::kSum;
    if (Chance(30)) d.header.flags |= isa::Pool::kSingleRound;
    d.src_zp = static_cast<int32_t>(Range(-128, 127));
    d.zp = static_cast<int32_t>(Range(-128, 127));
    d.mult = static_cast<uint32_t>(Multiplier());
    d.shift = Chance(70) ? static_cast<int>(Range(-14, 0)) : Shift();
  } else if (Chance(50)) {
    d.header.flags |= isa::Pool::kAverage;
  }
  if (has_table_ && Chance(30)) d.header.flags |= isa::Pool::kTable;
  d.cols =
      static_cast<uint32_t>(Chance(50) ? preset_.cols : Range(1, preset_.cols));
  int64_t source, extent, taps;
  do {
    const int big = Chance(10) ? sum ? 127 : 16 : 4;
    d.kh = static_cast<uint32_t>(Range(1, big));
    d.kw = static_cast<uint32_t>(Range(1, big));
    d.n = static_cast<uint32_t>(Range(1, 2));
    d.ny = static_cast<uint32_t>(Range(1, 4));
    d.nx = static_cast<uint32_t>(Range(1, 5));
    d.sy = static_cast<uint32_t>(Range(0, 4));
    d.kx = static_cast<uint32_t>(Chance(70) ? d.cols : Range(0, 2 * d.cols));
    d.src_sx = static_cast<uint32_t>(Range(0, 3) * d.kx);
    d.dy = static_cast<int32_t>(Range(-4, 2));
    d.dx = static_cast<int32_t>(Range(-3, 2) * d.kx);
    d.lines = static_cast<uint32_t>(Range(Chance(5) ? 0 : 1, 20));
    d.line_bytes = static_cast<uint32_t>(Range(Chance(5) ? 0 : 1, 20 * d.cols));
    d.src_pitch = static_cast<uint32_t>(Range(0, 2 * d.line_bytes));
    d.src_img_pitch =
        static_cast<uint32_t>(Range(0, int64_t{d.lines} * d.src_pitch));
    d.dst_sx =
        static_cast<uint32_t>(Chance(60) ? d.cols : Range(0, 3 * d.cols));
    d.dst_pitch = static_cast<uint32_t>(Range(0, 2 * d.nx * d.cols));
    d.dst_img_pitch = static_cast<uint32_t>(Range(0, 2 * d.ny * d.nx * d.cols));
    taps = int64_t{d.n} * d.ny * d.nx * d.kh * d.kw;
    source = int64_t{d.n - 1} * d.src_img_pitch +
             int64_t{d.lines} * d.src_pitch + d.line_bytes + d.cols;
    extent = int64_t{d.n - 1} * d.dst_img_pitch +
             int64_t{d.ny - 1} * d.dst_pitch + int64_t{d.nx - 1} * d.dst_sx +
             d.cols;
    if (taps > 1500 && sum && Chance(20)) {  // a window alone
      d.n = d.ny = d.nx = 1;
      taps = 1;
    }
  } while (taps > 1500 || source > from.end - from.begin ||
           extent > to.end - to.begin);
  d.src = static_cast<uint32_t>(Place(from, source));
  d.dst = static_cast<uint32_t>(Place(to, extent));
  Clamps(&d.clamp_min, &d.clamp_max);
  return d;
}

isa::Add Generator::Add() {
  isa::Add d;
  if (Chance(30)) d.header.flags |= isa::Add::kSingleRound;
  if (has_table_ && Chance(30)) d.header.flags |= isa::Add::kTable;
  d.ny = static_cast<uint32_t>(Range(1, 5));
  d.line_bytes = static_cast<uint32_t>(
      Chance(30) ? Range(1, 3) * preset_.cols : Range(1, 20 * preset_.cols));
  d.pitch0 = static_cast<uint32_t>(Range(d.line_bytes, 2 * d.line_bytes));
  d.pitch1 = static_cast<uint32_t>(Range(0, 2 * d.line_bytes));
  d.dst_pitch = static_cast<uint32_t>(Range(0, 2 * d.line_bytes));
  auto extent = [&](uint32_t pitch) {
    return int64_t{d.ny - 1} * pitch + d.line_bytes;
  };
  d.src0 = static_cast<uint32_t>(Place(first_, extent(d.pitch0)));
  d.src1 = static_cast<uint32_t>(Place(first_, extent(d.pitch1)));
  d.dst = static_cast<uint32_t>(Place(second_, extent(d.dst_pitch)));
  if (Chance(20)) {  // in place
    d.src1 = static_cast<uint32_t>(Place(second_, extent(d.pitch1)));
    d.dst = d.src0;
    d.dst_pitch = d.pitch0;
  }
  d.zp0 = static_cast<int32_t>(Range(-128, 127));
  d.zp1 = static_cast<int32_t>(Range(-128, 127));
  d.zp = static_cast<int32_t>(Range(-128, 127));
  d.mult0 = static_cast<uint32_t>(Multiplier());
  d.mult1 = static_cast<uint32_t>(Multiplier());
  d.mult = static_cast<uint32_t>(Multiplier());
  // What quantisation yields, or anything.
  const bool usual = Chance(70);
  d.shift0 = usual ? static_cast<int>(Range(-6, 0)) : Shift();
  d.shift1 = usual ? static_cast<int>(Range(-6, 0)) : Shift();
  d.shift = usual ? static_cast<int>(Range(-24, -14)) : Shift();
  Clamps(&d.clamp_min, &d.clamp_max);
  return d;
}

isa::Mul Generator::Mul() {
  isa::Mul d;
  if (Chance(30)) d.header.flags |= isa::Mul::kSingleRound;
  if (has_table_ && Chance(30)) d.header.flags |= isa::Mul::kTable;
  d.cols =
      static_cast<uint32_t>(Chance(50) ? preset_.cols : Range(1, preset_.cols));
  int64_t extent0, extent1, extent;
  const auto extent_of = [&](uint32_t img, uint32_t pitch, uint32_t sx) {
    return int64_t{d.n - 1} * img + int64_t{d.ny - 1} * pitch +
           int64_t{d.nx - 1} * sx + d.cols;
  };
  do {
    d.n = static_cast<uint32_t>(Range(1, 3));
    d.ny = static_cast<uint32_t>(Range(1, 5));
    d.nx = static_cast<uint32_t>(Range(1, 20));
    const int64_t most = 2 * d.cols;
    d.sx0 = static_cast<uint32_t>(Chance(20) ? 0 : Range(0, most));
    d.sx1 = static_cast<uint32_t>(Chance(40) ? 0 : Range(0, most));
    d.dst_sx = static_cast<uint32_t>(Range(0, most));
    d.pitch0 = static_cast<uint32_t>(Range(0, most * d.nx));
    d.pitch1 = static_cast<uint32_t>(Chance(40) ? 0 : Range(0, most * d.nx));
    d.dst_pitch = static_cast<uint32_t>(Range(0, most * d.nx));
    d.img_pitch0 = static_cast<uint32_t>(Range(0, most * d.nx * d.ny));
    d.img_pitch1 = static_cast<uint32_t>(Range(0, most * d.nx * d.ny));
    d.dst_img_pitch = static_cast<uint32_t>(Range(0, most * d.nx * d.ny));
    extent0 = extent_of(d.img_pitch0, d.pitch0, d.sx0);
    extent1 = extent_of(d.img_pitch1, d.pitch1, d.sx1);
    extent = extent_of(d.dst_img_pitch, d.dst_pitch, d.dst_sx);
  } while (std::max(extent0, extent1) > first_.end - first_.begin ||
           extent > second_.end - second_.begin);
  d.src0 = static_cast<uint32_t>(Place(first_, extent0));
  d.src1 = static_cast<uint32_t>(Place(first_, extent1));
  d.dst = static_cast<uint32_t>(Place(second_, extent));
  if (Chance(20) && d.sx0 >= d.cols && d.pitch0 >= d.nx * d.sx0 &&
      d.img_pitch0 >= d.ny * d.pitch0 &&
      extent1 <= second_.end - second_.begin) {
    d.src1 = static_cast<uint32_t>(Place(second_, extent1));
    d.dst = d.src0;  // in place
    d.dst_sx = d.sx0;
    d.dst_pitch = d.pitch0;
    d.dst_img_pitch = d.img_pitch0;
  }
  d.zp0 = static_cast<int32_t>(Range(-128, 127));
  d.zp1 = static_cast<int32_t>(Range(-128, 127));
  d.zp = static_cast<int32_t>(Range(-128, 127));
  d.mult = static_cast<uint32_t>(Multiplier());
  d.shift = Chance(70) ? static_cast<int>(Range(-12, 0)) : Shift();
  Clamps(&d.clamp_min, &d.clamp_max);
  return d;
}

isa::Table Generator::Table() {
  isa::Table d;
  const Region& from = Chance(30) ? params_ : Chance(50) ? first_ : second_;
  const int64_t first = (from.begin + preset_.rows - 1) / preset_.rows;
  d.src = static_cast<uint32_t>(Range(first, (from.end - 256) / preset_.rows) *
                                preset_.rows);
  has_table_ = true;
  return d;
}

std::vector<isa::Descriptor> Generator::Program(int descriptors) {
  std::vector<isa::Descriptor> program;
  has_table_ = false;
  const int only = static_cast<int>(Range(0, 7));  // 0..3: one kind
  if (Chance(50)) program.push_back(Table().Encode());
  while (static_cast<int>(program.size()) < descriptors) {
    if (has_table_ && Chance(15)) program.push_back(Table().Encode());
    switch (only < 4 ? only : Range(0, 4)) {
      case 3:
        program.push_back(Mul().Encode());
        break;
      case 1:
        program.push_back(Pool().Encode());
        break;
      case 2:
        program.push_back(Add().Encode());
        break;
      default: {
        const isa::Requant d = Requant();
        if (Chance(25)) program.push_back(Overwrite(d).Encode());
        program.push_back(d.Encode());
      }
    }
  }
  return program;
}

}  // namespace systole::vector_test
