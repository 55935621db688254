// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/iss/footprint.h"

#include <algorithm>

#include "sim/iss/vpu_state.h"

namespace systole::iss {
namespace {

// Adds `count` ranges of `len` that are `stride` apart; one range if there are
// no gaps.
void AddStrided(Ranges* to, uint64_t begin, uint64_t len, uint64_t stride,
                uint64_t count) {
  if (len == 0 || count == 0) return;
  if (stride <= len) {
    to->push_back({begin, begin + (count - 1) * stride + len});
    return;
  }
  for (uint64_t i = 0; i < count; ++i)
    to->push_back({begin + i * stride, begin + i * stride + len});
}

template <typename Dma>
void Runs(const Dma& d, const std::vector<uint64_t>& rows, Ranges* hbm,
          Ranges* ub) {
  for (uint64_t i2 = 0; i2 < d.n2; ++i2) {
    AddStrided(hbm, rows[i2], d.len, d.hbm_stride1, d.n1);
    AddStrided(ub, d.ub_addr + i2 * d.ub_stride2, d.len, d.ub_stride1, d.n1);
  }
}

template <typename Dma>
void Table(const Dma& d, Footprint* f) {
  if (d.header.flags & Dma::kIndexed) {
    const Range table = {d.index_addr, d.index_addr + 4 * uint64_t{d.n2}};
    f->read(Space::kUb).push_back(table);
    f->own_conflicts = Intersect({table}, Normalise(f->write(Space::kUb)));
  }
}

// Adds the bytes of a line that `count` windows of `len` bytes read. The first
// window starts at byte `first`, the others `step` bytes apart; only bytes 0 to
// line_bytes - 1 exist.
void AddWindows(Ranges* to, uint64_t line_address, int64_t first, int64_t len,
                int64_t step, int64_t count, int64_t line_bytes) {
  if (len == 0) return;
  const auto add = [&](int64_t from, int64_t until) {
    from = std::max<int64_t>(from, 0);
    until = std::min(until, line_bytes);
    if (from < until)
      to->push_back({line_address + from, line_address + until});
  };
  if (step <= len) return add(first, first + (count - 1) * step + len);
  for (int64_t x = 0; x < count; ++x)
    add(first + x * step, first + x * step + len);
}

void Walk(const isa::Matmul& d, const Preset& preset, Footprint* f) {
  const bool transpose = (d.header.flags & isa::Matmul::kTranspose) != 0;
  const int64_t rows = transpose ? int64_t{d.t1} * d.t0 * preset.rows
                                 : int64_t{d.n} * d.ny * d.nx;
  f->write(Space::kAcc).push_back({d.acc, static_cast<uint64_t>(d.acc + rows)});
  if (d.header.flags & isa::Matmul::kAccumulate)
    f->read(Space::kAcc) = f->write(Space::kAcc);
  for (int64_t p1 = 0; p1 < d.t1; ++p1) {
    for (int64_t i = 0; i < d.n; ++i) {
      for (int64_t y = 0; y < d.ny; ++y) {
        for (int s = 0; s < 4; ++s) {
          const int64_t line = y * d.sy + d.seg_dy[s] + p1 * d.t1_dy;
          if (line < 0 || line >= d.lines) continue;
          const uint64_t address = d.ub_base + i * d.img_pitch + line * d.pitch;
          for (int64_t p0 = 0; p0 < d.t0; ++p0) {
            AddWindows(&f->read(Space::kUb), address,
                       int64_t{d.seg_dx[s]} + p0 * d.t0_dx,
                       d.seg_len[s] * preset.element_bytes(), d.sx, d.nx,
                       d.line_bytes);
          }
        }
      }
    }
  }
}

// The place of the vectors of a descriptor's positions.
struct Vectors {
  uint64_t address, img_pitch, pitch, sx;
  bool operator==(const Vectors& o) const {
    return address == o.address && img_pitch == o.img_pitch &&
           pitch == o.pitch && sx == o.sx;
  }
};

template <typename D>
Ranges RangesOf(const D& d, const Vectors& v, uint64_t bytes) {
  Ranges ranges;
  for (uint64_t i = 0; i < d.n; ++i) {
    for (uint64_t y = 0; y < d.ny; ++y)
      AddStrided(&ranges, v.address + i * v.img_pitch + y * v.pitch, bytes,
                 v.sx, d.nx);
  }
  return ranges;
}

template <typename D>
Vectors DestinationOf(const D& d) {
  return {d.dst, d.dst_img_pitch, d.dst_pitch, d.dst_sx};
}

// Adds the destination of requant, pool and mul.
template <typename D>
void Destination(const D& d, uint64_t bytes, Ranges* to) {
  const Ranges ranges = RangesOf(d, DestinationOf(d), bytes);
  to->insert(to->end(), ranges.begin(), ranges.end());
}

// Adds an operand that is read vector by vector. It may be exactly where the
// result goes.
template <typename D>
void Operand(const D& d, const Vectors& v, Footprint* f) {
  const Ranges ranges = RangesOf(d, v, d.cols);
  f->read(Space::kUb)
      .insert(f->read(Space::kUb).end(), ranges.begin(), ranges.end());
  if (v == DestinationOf(d)) return;
  const Ranges both =
      Intersect(Normalise(ranges), Normalise(f->write(Space::kUb)));
  f->own_conflicts.insert(f->own_conflicts.end(), both.begin(), both.end());
}

void Walk(const isa::Requant& d, int64_t cols, Footprint* f) {
  const bool raw = (d.header.flags & isa::Requant::kRaw) != 0;
  f->read(Space::kAcc).push_back({d.acc, d.acc + uint64_t{d.n} * d.ny * d.nx});
  Destination(d, raw ? 4 * d.cols : d.cols, &f->write(Space::kUb));
  if (raw) return;
  if (d.header.flags & isa::Requant::kResidual)
    Operand(d, {d.src, d.src_img_pitch, d.src_pitch, d.src_sx}, f);
  const Ranges written = Normalise(f->write(Space::kUb));
  const auto block_part = [&](uint64_t begin, uint64_t bytes) {
    const Range part = {begin, begin + bytes};
    f->read(Space::kUb).push_back(part);
    const Ranges both = Intersect({part}, written);
    f->own_conflicts.insert(f->own_conflicts.end(), both.begin(), both.end());
  };
  block_part(d.params, 4 * d.cols);
  block_part(d.params + 4 * cols, 4 * d.cols);
  block_part(d.params + 8 * cols, d.cols);
}

void Walk(const isa::Pool& d, Footprint* f) {
  for (int64_t i = 0; i < d.n; ++i) {
    for (int64_t y = 0; y < d.ny; ++y) {
      for (int64_t ky = 0; ky < d.kh; ++ky) {
        const int64_t line = y * d.sy + d.dy + ky;
        if (line < 0 || line >= d.lines) continue;
        const uint64_t address =
            d.src + i * d.src_img_pitch + line * d.src_pitch;
        for (int64_t x = 0; x < d.nx; ++x) {
          for (int64_t kx = 0; kx < d.kw; ++kx) {
            const int64_t byte = x * d.src_sx + d.dx + kx * d.kx;
            if (byte < 0 || byte >= d.line_bytes) continue;
            f->read(Space::kUb)
                .push_back({address + byte, address + byte + d.cols});
          }
        }
      }
    }
  }
  Destination(d, d.cols, &f->write(Space::kUb));
}

// Whether a pool has one tap and works exactly in place.
bool InPlace(const isa::Pool& d) {
  const Vectors source = {
      d.src + static_cast<uint64_t>(int64_t{d.dy} * d.src_pitch + d.dx),
      d.src_img_pitch, uint64_t{d.sy} * d.src_pitch, d.src_sx};
  return d.kh == 1 && d.kw == 1 && source == DestinationOf(d);
}

void Walk(const isa::Add& d, Footprint* f) {
  AddStrided(&f->write(Space::kUb), d.dst, d.line_bytes, d.dst_pitch, d.ny);
  const auto operand = [&](uint64_t src, uint64_t pitch) {
    Ranges ranges;
    AddStrided(&ranges, src, d.line_bytes, pitch, d.ny);
    f->read(Space::kUb)
        .insert(f->read(Space::kUb).end(), ranges.begin(), ranges.end());
    const bool in_place = src == d.dst && (pitch == d.dst_pitch || d.ny == 1);
    if (in_place) return;
    const Ranges both =
        Intersect(Normalise(ranges), Normalise(f->write(Space::kUb)));
    f->own_conflicts.insert(f->own_conflicts.end(), both.begin(), both.end());
  };
  operand(d.src0, d.pitch0);
  operand(d.src1, d.pitch1);
}

void Walk(const isa::Mul& d, Footprint* f) {
  Destination(d, d.cols, &f->write(Space::kUb));
  Operand(d, {d.src0, d.img_pitch0, d.pitch0, d.sx0}, f);
  Operand(d, {d.src1, d.img_pitch1, d.pitch1, d.sx1}, f);
}

}  // namespace

Ranges Normalise(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  Ranges joined;
  for (const Range& r : ranges) {
    if (!joined.empty() && r.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, r.end);
    } else {
      joined.push_back(r);
    }
  }
  return joined;
}

Ranges Intersect(const Ranges& a, const Ranges& b) {
  Ranges both;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Range r = {std::max(a[i].begin, b[j].begin),
                     std::min(a[i].end, b[j].end)};
    if (r.begin < r.end) both.push_back(r);
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return both;
}

Footprint FootprintOf(const isa::Descriptor& descriptor, const Preset& preset,
                      const VrunLog& vrun,
                      const std::vector<uint64_t>& dma_rows) {
  Footprint f;
  switch (static_cast<isa::Opcode>(isa::GetBits(descriptor, 0, 8))) {
    case isa::Opcode::kLoad:
      Runs(isa::Load::Decode(descriptor), dma_rows, &f.read(Space::kHbm),
           &f.write(Space::kUb));
      Table(isa::Load::Decode(descriptor), &f);
      break;
    case isa::Opcode::kStore:
      Runs(isa::Store::Decode(descriptor), dma_rows, &f.write(Space::kHbm),
           &f.read(Space::kUb));
      Table(isa::Store::Decode(descriptor), &f);
      break;
    case isa::Opcode::kSend:
      Runs(isa::Send::Decode(descriptor), dma_rows, &f.sent,
           &f.read(Space::kUb));
      break;
    case isa::Opcode::kWeights: {
      const isa::Weights d = isa::Weights::Decode(descriptor);
      f.read(Space::kHbm)
          .push_back({d.hbm_addr, d.hbm_addr + d.tiles * preset.tile_bytes()});
      break;
    }
    case isa::Opcode::kMatmul:
      Walk(isa::Matmul::Decode(descriptor), preset, &f);
      break;
    case isa::Opcode::kRequant:
      Walk(isa::Requant::Decode(descriptor), preset.cols, &f);
      break;
    case isa::Opcode::kPool:
      Walk(isa::Pool::Decode(descriptor), &f);
      break;
    case isa::Opcode::kAdd:
      Walk(isa::Add::Decode(descriptor), &f);
      break;
    case isa::Opcode::kMul:
      Walk(isa::Mul::Decode(descriptor), &f);
      break;
    case isa::Opcode::kTable: {
      const isa::Table d = isa::Table::Decode(descriptor);
      f.read(Space::kUb).push_back({d.src, d.src + 256});
      break;
    }
    case isa::Opcode::kTiles: {
      const isa::Tiles d = isa::Tiles::Decode(descriptor);
      for (uint64_t t = 0; t < d.tiles; ++t) {
        AddStrided(&f.read(Space::kUb), d.ub_addr + t * d.tile_stride,
                   2 * d.cols, d.pitch, d.rows);
      }
      break;
    }
    case isa::Opcode::kVload: {
      const isa::Vload d = isa::Vload::Decode(descriptor);
      f.read(Space::kUb).push_back({d.ub_addr, d.ub_addr + 8 * d.count});
      break;
    }
    case isa::Opcode::kVrun:
      f.read(Space::kUb) = vrun.reads.All();
      f.write(Space::kUb) = vrun.writes.All();
      f.read(Space::kAcc) = vrun.acc_reads.All();
      break;
    case isa::Opcode::kHalt:
      break;
  }
  for (int s = 0; s < kNumSpaces; ++s) {
    f.reads[s] = Normalise(std::move(f.reads[s]));
    f.writes[s] = Normalise(std::move(f.writes[s]));
  }
  f.sent = Normalise(std::move(f.sent));
  const auto op = static_cast<isa::Opcode>(isa::GetBits(descriptor, 0, 8));
  if (op == isa::Opcode::kPool && !InPlace(isa::Pool::Decode(descriptor))) {
    f.own_conflicts = Intersect(f.read(Space::kUb), f.write(Space::kUb));
  }
  f.own_conflicts = Normalise(std::move(f.own_conflicts));
  return f;
}

}  // namespace systole::iss
