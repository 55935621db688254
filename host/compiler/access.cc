// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/access.h"

#include <algorithm>
#include <optional>

#include "host/compiler/geometry.h"

namespace systole::compiler {
namespace {

// The table of an indexed load or store.
std::optional<Access> TableOf(const isa::Send&) { return std::nullopt; }
template <class Op>
std::optional<Access> TableOf(const Op& op) {
  if ((op.header.flags & Op::kIndexed) == 0) return std::nullopt;
  Access table;
  table.base = op.index_addr;
  table.len = 4 * int64_t{op.n2};
  return table;
}

// A DMA reads whole beats but writes only `len` bytes.
template <class Op>
std::vector<Access> DmaAccesses(const isa::Descriptor& d, const Preset& preset,
                                bool to_ub) {
  const Op op = Op::Decode(d);
  const int64_t whole = RoundUp(op.len, preset.beat_bytes());
  Access hbm;
  hbm.space = Space::kHbm;
  hbm.write = !to_ub;
  hbm.base = op.hbm_addr;
  hbm.len = to_ub ? whole : op.len;
  hbm.count[0] = op.n1;
  hbm.count[1] = op.n2;
  hbm.stride[0] = op.hbm_stride1;
  hbm.stride[1] = op.hbm_stride2;
  Access ub;
  ub.write = to_ub;
  ub.base = op.ub_addr;
  ub.len = to_ub ? op.len : whole;
  ub.count[0] = op.n1;
  ub.count[1] = op.n2;
  ub.stride[0] = op.ub_stride1;
  ub.stride[1] = op.ub_stride2;
  const std::optional<Access> table = TableOf(op);
  // Where an indexed one goes in HBM is known when it runs: the step lists it.
  if (table) return {*table, ub};
  return {hbm, ub};
}

constexpr uint32_t kSharedFlags = ~uint32_t{0} << isa::kFirstLinkFlag;

Access AccRows(int64_t row, int64_t rows, bool write) {
  Access a;
  a.space = Space::kAcc;
  a.write = write;
  a.base = row;
  a.len = rows;
  return a;
}

// Lines line_lo to line_hi - 1, and bytes byte_lo to byte_hi - 1 of each, in
// each of n images.
void AddBox(std::vector<Access>& out, int64_t base, int64_t pitch,
            int64_t line_lo, int64_t line_hi, int64_t byte_lo, int64_t byte_hi,
            int64_t n, int64_t img_pitch) {
  if (line_lo >= line_hi || byte_lo >= byte_hi) return;
  Access a;
  a.base = base + line_lo * pitch + byte_lo;
  a.len = byte_hi - byte_lo;
  a.count[0] = line_hi - line_lo;
  a.stride[0] = pitch;
  a.count[1] = n;
  a.stride[1] = img_pitch;
  out.push_back(a);
}

std::vector<Access> MatmulAccesses(const isa::Descriptor& d,
                                   const Preset& preset) {
  const isa::Matmul m = isa::Matmul::Decode(d);
  const bool transpose = m.header.flags & isa::Matmul::kTranspose;
  const int64_t rows = transpose ? int64_t{m.t0} * m.t1 * preset.rows
                                 : int64_t{m.n} * m.ny * m.nx;
  std::vector<Access> out = {AccRows(m.acc, rows, true)};
  const int64_t lines = int64_t{m.ny - 1} * m.sy + int64_t{m.t1 - 1} * m.t1_dy;
  const int64_t bytes = int64_t{m.nx - 1} * m.sx + int64_t{m.t0 - 1} * m.t0_dx;
  for (int s = 0; s < 4; ++s) {
    if (m.seg_len[s] == 0) continue;
    AddBox(out, m.ub_base, m.pitch, std::max<int64_t>(0, m.seg_dy[s]),
           std::min<int64_t>(m.lines, m.seg_dy[s] + lines + 1),
           std::max<int64_t>(0, m.seg_dx[s]),
           std::min<int64_t>(
               m.line_bytes,
               m.seg_dx[s] + bytes + m.seg_len[s] * preset.element_bytes()),
           m.n, m.img_pitch);
  }
  return out;
}

std::vector<Access> TilesAccesses(const isa::Descriptor& d,
                                  const Preset& preset) {
  const isa::Tiles t = isa::Tiles::Decode(d);
  Access a;
  a.base = t.ub_addr;
  a.len = t.cols * preset.element_bytes();
  a.count[0] = t.rows;
  a.stride[0] = t.pitch;
  a.count[1] = t.tiles;
  a.stride[1] = t.tile_stride;
  return {a};
}

// A write of `len` bytes at each position.
Access Vectors(int64_t dst, int64_t len, int64_t nx, int64_t sx, int64_t ny,
               int64_t pitch, int64_t n, int64_t img_pitch) {
  Access a;
  a.write = true;
  a.base = dst;
  a.len = len;
  if (sx == len) {  // dense lines
    a.len = len * nx;
    nx = 1;
  }
  a.count[0] = nx;
  a.stride[0] = sx;
  a.count[1] = ny;
  a.stride[1] = pitch;
  a.count[2] = n;
  a.stride[2] = img_pitch;
  return a;
}

std::vector<Access> RequantAccesses(const isa::Descriptor& d,
                                    const Preset& preset) {
  const isa::Requant r = isa::Requant::Decode(d);
  const bool raw = r.header.flags & isa::Requant::kRaw;
  std::vector<Access> out = {AccRows(r.acc, int64_t{r.n} * r.ny * r.nx, false)};
  out.push_back(Vectors(r.dst, r.cols * (raw ? 4 : 1), r.nx, r.dst_sx, r.ny,
                        r.dst_pitch, r.n, r.dst_img_pitch));
  if (!raw) {
    Access params;
    params.base = r.params;
    params.len = preset.param_block_bytes();
    out.push_back(params);
  }
  if (r.header.flags & isa::Requant::kResidual) {
    out.push_back(Vectors(r.src, r.cols, r.nx, r.src_sx, r.ny, r.src_pitch, r.n,
                          r.src_img_pitch));
    out.back().write = false;
  }
  return out;
}

std::vector<Access> PoolAccesses(const isa::Descriptor& d) {
  const isa::Pool p = isa::Pool::Decode(d);
  std::vector<Access> out;
  const int64_t lines = int64_t{p.ny - 1} * p.sy + p.kh;
  const int64_t bytes = int64_t{p.nx - 1} * p.src_sx + int64_t{p.kw - 1} * p.kx;
  AddBox(out, p.src, p.src_pitch, std::max<int64_t>(0, p.dy),
         std::min<int64_t>(p.lines, p.dy + lines), std::max<int64_t>(0, p.dx),
         std::min<int64_t>(p.line_bytes - 1, p.dx + bytes) + p.cols, p.n,
         p.src_img_pitch);
  out.push_back(Vectors(p.dst, p.cols, p.nx, p.dst_sx, p.ny, p.dst_pitch, p.n,
                        p.dst_img_pitch));
  return out;
}

std::vector<Access> AddAccesses(const isa::Descriptor& d) {
  const isa::Add a = isa::Add::Decode(d);
  std::vector<Access> out;
  AddBox(out, a.src0, a.pitch0, 0, a.ny, 0, a.line_bytes, 1, 0);
  AddBox(out, a.src1, a.pitch1, 0, a.ny, 0, a.line_bytes, 1, 0);
  AddBox(out, a.dst, a.dst_pitch, 0, a.ny, 0, a.line_bytes, 1, 0);
  out.back().write = true;
  return out;
}

std::vector<Access> MulAccesses(const isa::Descriptor& d) {
  const isa::Mul m = isa::Mul::Decode(d);
  std::vector<Access> out = {
      Vectors(m.src0, m.cols, m.nx, m.sx0, m.ny, m.pitch0, m.n, m.img_pitch0),
      Vectors(m.src1, m.cols, m.nx, m.sx1, m.ny, m.pitch1, m.n, m.img_pitch1),
      Vectors(m.dst, m.cols, m.nx, m.dst_sx, m.ny, m.dst_pitch, m.n,
              m.dst_img_pitch)};
  out[0].write = out[1].write = false;
  return out;
}

}  // namespace

bool Access::Contains(int64_t address) const {
  bool found = false;
  ForEachRun([&](int64_t begin, int64_t end) {
    found |= address >= begin && address < end;
  });
  return found;
}

isa::Opcode OpcodeOf(const isa::Descriptor& d) {
  return static_cast<isa::Opcode>(isa::GetBits(d, 0, 8));
}

int TagOf(const isa::Descriptor& d) {
  return static_cast<int>(isa::GetBits(d, 16, 16));
}

uint32_t SharedWaitsOf(const isa::Descriptor& d) {
  return static_cast<uint32_t>(isa::GetBits(d, 32, 32)) & kSharedFlags;
}

uint32_t SharedPostsOf(const isa::Descriptor& d) {
  const auto own = static_cast<uint32_t>(isa::GetBits(d, 64, 32));
  if (OpcodeOf(d) != isa::Opcode::kSend) return own & kSharedFlags;
  const isa::Send send = isa::Send::Decode(d);
  if ((send.header.flags & isa::Send::kLinkPost) == 0) return 0;
  return 1u << (isa::kFirstLinkFlag + send.link_flag);
}

std::vector<Access> AccessesOf(const std::vector<kernels::Effect>& effects) {
  std::vector<Access> accesses;
  for (const kernels::Effect& effect : effects) {
    Access a;
    a.space = effect.accumulators ? Space::kAcc : Space::kUb;
    a.write = effect.write;
    a.base = effect.base;
    a.len = effect.len;
    std::copy(std::begin(effect.count), std::end(effect.count), a.count);
    std::copy(std::begin(effect.stride), std::end(effect.stride), a.stride);
    accesses.push_back(a);
  }
  return accesses;
}

isa::Queue QueueOf(const isa::Descriptor& d) {
  const isa::OpInfo* op = isa::FindOp(static_cast<uint8_t>(OpcodeOf(d)));
  return op == nullptr ? isa::Queue::kNone : op->queue;
}

std::vector<Access> AccessesOf(const isa::Descriptor& d, const Preset& preset) {
  switch (OpcodeOf(d)) {
    case isa::Opcode::kLoad:
      return DmaAccesses<isa::Load>(d, preset, true);
    case isa::Opcode::kStore:
      return DmaAccesses<isa::Store>(d, preset, false);
    case isa::Opcode::kSend: {  // its destination is another core's memory
      auto accesses = DmaAccesses<isa::Send>(d, preset, false);
      accesses.erase(accesses.begin());
      return accesses;
    }
    case isa::Opcode::kMatmul:
      return MatmulAccesses(d, preset);
    case isa::Opcode::kRequant:
      return RequantAccesses(d, preset);
    case isa::Opcode::kPool:
      return PoolAccesses(d);
    case isa::Opcode::kAdd:
      return AddAccesses(d);
    case isa::Opcode::kMul:
      return MulAccesses(d);
    case isa::Opcode::kTable: {
      Access a;
      a.base = isa::Table::Decode(d).src;
      a.len = 256;
      return {a};
    }
    case isa::Opcode::kWeights: {
      const isa::Weights w = isa::Weights::Decode(d);
      Access a;
      a.space = Space::kHbm;
      a.base = w.hbm_addr;
      a.len = w.tiles * preset.tile_bytes();
      return {a};
    }
    case isa::Opcode::kTiles:
      return TilesAccesses(d, preset);
    case isa::Opcode::kVload: {
      const isa::Vload v = isa::Vload::Decode(d);
      Access a;
      a.base = v.ub_addr;
      a.len = int64_t{v.count} * 8;
      return {a};
    }
    case isa::Opcode::kVrun:  // the step lists what its program touches
    case isa::Opcode::kHalt:
      break;
  }
  return {};
}

}  // namespace systole::compiler
