// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/rtl/dma/reference.h"

#include <algorithm>

namespace systole::dma_test {
namespace {

using isa::Fault;

constexpr uint64_t kHbmSpace = uint64_t{1} << 36;

// Load and store have the same fields.
isa::Load Fields(Kind kind, const Preset& p, const isa::Descriptor& d) {
  if (kind != Kind::kWeights) return isa::Load::Decode(d);
  const isa::Weights w = isa::Weights::Decode(d);
  isa::Load r;
  r.hbm_addr = w.hbm_addr;
  r.len = static_cast<uint32_t>(p.tile_bytes());
  r.hbm_stride1 = p.tile_bytes();
  r.n1 = w.tiles;
  r.n2 = 1;
  return r;
}

isa::Descriptor Encode(Kind kind, const isa::Load& f) {
  if (kind == Kind::kLoad) return f.Encode();
  isa::Store s;
  s.header.flags = f.header.flags;
  s.index_addr = f.index_addr;
  s.hbm_addr = f.hbm_addr;
  s.ub_addr = f.ub_addr;
  s.len = f.len;
  s.n1 = f.n1;
  s.n2 = f.n2;
  s.hbm_stride1 = f.hbm_stride1;
  s.ub_stride1 = f.ub_stride1;
  s.hbm_stride2 = f.hbm_stride2;
  s.ub_stride2 = f.ub_stride2;
  return s.Encode();
}

bool Indexed(Kind kind, const isa::Load& f) {
  return kind != Kind::kWeights && (f.header.flags & isa::Load::kIndexed) != 0;
}

class Walk {
 public:
  Walk(Kind kind, const Preset& preset, uint64_t base, uint64_t limit,
       Expected* out)
      : kind_(kind), preset_(preset), base_(base), limit_(limit), out_(*out) {}

  // False after a fault.
  bool Do(const isa::Load& f) {
    const uint64_t beat = preset_.beat_bytes();
    if (f.len == 0 || f.n1 == 0 || f.n2 == 0) {
      return Stop(Fault::kIllegalDescriptor, 0);
    }
    for (uint64_t v :
         {f.hbm_addr, uint64_t{f.ub_addr}, f.hbm_stride1,
          uint64_t{f.ub_stride1}, f.hbm_stride2, uint64_t{f.ub_stride2}}) {
      if (v % beat != 0) return Stop(Fault::kMisaligned, v);
    }
    out_.begins.push_back(static_cast<int64_t>(out_.beats.size()));
    const bool indexed = Indexed(kind_, f);
    if (indexed && f.index_addr % beat != 0)
      return Stop(Fault::kMisaligned, f.index_addr);
    for (uint64_t i2 = 0; indexed && i2 < f.n2; ++i2) {
      const uint64_t at = (f.index_addr + 4 * i2) / beat * beat;
      if (at + beat > static_cast<uint64_t>(preset_.ub_bytes))
        return Stop(Fault::kUbRange, at);
    }
    for (uint64_t i2 = 0; i2 < f.n2; ++i2) {
      const uint64_t row =
          indexed ? beat * EntryAt(f.index_addr + 4 * i2) : i2 * f.hbm_stride2;
      for (uint64_t i1 = 0; i1 < f.n1; ++i1) {
        const uint64_t hbm = f.hbm_addr + row + i1 * f.hbm_stride1;
        const uint64_t ub = uint64_t{f.ub_addr} + i2 * uint64_t{f.ub_stride2} +
                            i1 * uint64_t{f.ub_stride1};
        if (!Run(hbm, ub, f.len)) return false;
      }
    }
    out_.beats.back().last = true;
    ++out_.complete;
    return true;
  }

 private:
  bool Stop(Fault fault, uint64_t addr) {
    out_.fault = fault;
    out_.fault_addr = addr;
    return false;
  }

  // Whole beats must lie in both memories, or none of the run is moved;
  // weights are checked beat by beat.
  bool Run(uint64_t hbm, uint64_t ub, uint64_t len) {
    const uint64_t beat = preset_.beat_bytes();
    for (uint64_t b = 0; b < len; b += beat) {
      if (hbm + b >= base_ && hbm + b + beat <= limit_) continue;
      if (kind_ == Kind::kWeights) Copy(hbm, ub, b);
      return Stop(Fault::kHbmRange, hbm + b);
    }
    const uint64_t size = preset_.ub_bytes;
    for (uint64_t b = 0; b < len && kind_ != Kind::kWeights; b += beat) {
      if (ub + b + beat > size) return Stop(Fault::kUbRange, ub + b);
    }
    Copy(hbm, ub, len);
    return true;
  }

  void Copy(uint64_t hbm, uint64_t ub, uint64_t len) {
    const uint64_t beat = preset_.beat_bytes();
    for (uint64_t b = 0; b < len; b += beat) {
      Beat x;
      x.source = (kind_ == Kind::kStore ? ub : hbm) + b;
      x.target =
          kind_ == Kind::kWeights ? 0 : (kind_ == Kind::kStore ? hbm : ub) + b;
      x.bytes = static_cast<int64_t>(std::min(beat, len - b));
      out_.beats.push_back(x);
    }
  }

  const Kind kind_;
  const Preset& preset_;
  const uint64_t base_, limit_;
  Expected& out_;
};

uint64_t Below(std::mt19937* random, uint64_t n) {
  return n == 0 ? 0
                : std::uniform_int_distribution<uint64_t>(0, n - 1)(*random);
}

// Makes a descriptor an indexed one with rows of a size of its own.
isa::Load WithTable(isa::Load f, const Preset& p, std::mt19937* random) {
  f.header.flags = isa::Load::kIndexed;
  f.n2 = static_cast<uint32_t>(1 + Below(random, Below(random, 2) ? 4 : 60));
  const uint64_t beat = p.beat_bytes(), table = (4 * f.n2 + beat - 1) / beat;
  const uint64_t most = p.ub_bytes / beat - table;
  f.index_addr = static_cast<uint32_t>(
      beat * (Below(random, 8) == 0 ? most : Below(random, most + 1)));
  if (Below(random, 2))
    f.len = static_cast<uint32_t>(1 + Below(random, 2 * beat));
  f.ub_stride2 = static_cast<uint32_t>(beat * Below(random, 6));
  f.ub_addr = static_cast<uint32_t>(beat * Below(random, 50));
  f.hbm_stride2 = beat * Below(random, 1000);
  return f;
}

}  // namespace

uint32_t EntryAt(uint64_t ub_address) {
  uint64_t x = (ub_address + 5) * 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 31) * 0xBF58476D1CE4E5B9u;
  const uint64_t value = x >> 24;
  return static_cast<uint32_t>(value % 64 == 0 ? value >> 6 : value >> 6 & 127);
}

Expected Reference(Kind kind, const Preset& preset, uint64_t hbm_limit,
                   const std::vector<isa::Descriptor>& descriptors,
                   uint64_t hbm_base) {
  Expected out;
  Walk walk(kind, preset, hbm_base, hbm_limit, &out);
  for (const isa::Descriptor& d : descriptors) {
    if (!walk.Do(Fields(kind, preset, d))) break;
  }
  return out;
}

isa::Descriptor RandomDescriptor(Kind kind, const Preset& p, uint64_t limit,
                                 std::mt19937* random) {
  const uint64_t beat = p.beat_bytes();
  const auto below = [random](uint64_t n) { return Below(random, n); };
  if (kind == Kind::kWeights) {
    isa::Weights w;
    const uint64_t most = p.tile_bytes() > 4096 ? 2 : 9;
    w.tiles = static_cast<uint32_t>(1 + below(most));
    const uint64_t bytes = w.tiles * p.tile_bytes();
    w.hbm_addr = below((limit - bytes) / beat + 1) * beat;
    if (below(8) == 0) w.hbm_addr = (limit - bytes) / beat * beat;
    return w.Encode();
  }
  isa::Load f;
  f.n1 = static_cast<uint32_t>(1 + below(4));
  f.n2 = static_cast<uint32_t>(1 + below(3));
  const uint64_t beats = 1 + below(below(4) == 0 ? 40 : 6);
  f.len = static_cast<uint32_t>(beats * beat - (below(2) ? below(beat) : 0));
  // A dimension of one memory: the start and two strides, so that the last run
  // ends within `size` bytes, often exactly there.
  const auto place = [&](uint64_t size, auto* addr, auto* stride1,
                         auto* stride2) {
    uint64_t room = size / beat - beats;  // for the start of the last run
    const auto stride = [&](uint64_t count) {
      const uint64_t most =
          count > 1 ? room / (count - 1) : uint64_t{1} << 12;  // unused
      uint64_t s = below(3) == 0 ? below(most + 1)
                                 : std::min(most, below(2 * beats + 1));
      if (count > 1) room -= s * (count - 1);
      return s * beat;
    };
    using Addr = std::remove_pointer_t<decltype(addr)>;
    using Stride = std::remove_pointer_t<decltype(stride1)>;
    *stride1 = static_cast<Stride>(stride(f.n1));
    *stride2 = static_cast<Stride>(stride(f.n2));
    *addr = static_cast<Addr>((below(4) == 0 ? room : below(room + 1)) * beat);
  };
  place(limit, &f.hbm_addr, &f.hbm_stride1, &f.hbm_stride2);
  place(p.ub_bytes, &f.ub_addr, &f.ub_stride1, &f.ub_stride2);
  for (int tries = 0; p.cell == Cell::kBf16 && below(3) == 0 && tries < 100;
       ++tries) {
    const isa::Descriptor d = Encode(kind, WithTable(f, p, random));
    if (Reference(kind, p, limit, {d}).fault == Fault::kNone) return d;
  }
  return Encode(kind, f);
}

isa::Descriptor FaultyDescriptor(Kind kind, const Preset& p, uint64_t limit,
                                 std::mt19937* random) {
  const auto below = [random](uint64_t n) { return Below(random, n); };
  const uint64_t beat = p.beat_bytes();
  for (;;) {
    isa::Descriptor d = RandomDescriptor(kind, p, limit, random);
    if (kind == Kind::kWeights) {
      isa::Weights w = isa::Weights::Decode(d);
      const uint64_t way = below(4);
      if (way == 0) w.tiles = 0;
      if (way == 1) w.hbm_addr += 1 + below(beat - 1);
      if (way == 2) w.hbm_addr += p.tile_bytes() * below(4);
      if (way == 3) w.hbm_addr = below(kHbmSpace / beat) * beat;
      d = w.Encode();
    } else {
      isa::Load f = Fields(kind, p, d);
      const uint32_t offset = static_cast<uint32_t>(1 + below(beat - 1));
      const uint64_t far = below(kHbmSpace / beat) * beat;
      const uint32_t ub_far =
          static_cast<uint32_t>(below((1u << 25) / beat) * beat);
      const bool indexed = p.cell == Cell::kBf16;
      if (indexed && below(2)) f = WithTable(f, p, random);
      switch (below(indexed ? 22 : 18)) {
        case 0:
          f.len = 0;
          break;
        case 1:
          f.n1 = 0;
          break;
        case 2:
          f.n2 = 0;
          break;
        case 3:
          f.hbm_addr += offset;
          break;
        case 4:
          f.ub_addr += offset;
          break;
        case 5:
          f.hbm_stride1 += offset;
          break;
        case 6:
          f.ub_stride1 += offset;
          break;
        case 7:
          f.hbm_stride2 += offset;
          break;
        case 8:
          f.ub_stride2 += offset;
          break;
        case 9:
          f.hbm_addr = far;
          break;
        case 10:
          f.hbm_stride1 = far;
          break;
        case 11:
          f.hbm_stride2 = far;
          break;
        case 12:
          f.ub_addr = ub_far;
          break;
        case 13:
          f.ub_stride1 = ub_far;
          break;
        case 14:
          f.ub_stride2 = ub_far;
          break;
        case 15:
          f.len = (1u << 25) - 1 - static_cast<uint32_t>(below(99));
          break;
        case 16:
          f.n1 += 1 + static_cast<uint32_t>(below(99));
          break;
        case 17:
          f.hbm_addr += beat;
          f.ub_addr += static_cast<uint32_t>(beat);
          break;
        case 18:
          f.index_addr += offset;
          break;
        case 19:
          f.index_addr = ub_far;
          break;
        case 20:
          f.n2 = static_cast<uint32_t>(1 + below(65535));
          break;
        case 21:  // numbers of rows that are beyond the memory
          f = WithTable(f, p, random);
          break;
      }
      d = Encode(kind, f);
    }
    if (Reference(kind, p, limit, {d}).fault != Fault::kNone) return d;
  }
}

}  // namespace systole::dma_test
