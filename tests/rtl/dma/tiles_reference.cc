// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/rtl/dma/tiles_reference.h"

namespace systole::dma_test {

uint8_t HbmByte(uint64_t a) {
  return static_cast<uint8_t>(((a + 77) * 0x9E3779B97F4A7C15u) >> 56);
}
uint8_t UbByte(uint64_t a) {
  return static_cast<uint8_t>(((a + 5) * 0xBF58476D1CE4E5B9u) >> 56);
}

namespace {

using isa::Descriptor;
using isa::Fault;

class Reference {
 public:
  Reference(const Preset& p, uint64_t limit) : p_(p), limit_(limit) {}

  TilesExpected Run(const std::vector<Descriptor>& list) {
    for (const Descriptor& d : list) {
      const bool good = (d[0] & 0xFF) == uint64_t(isa::Opcode::kTiles)
                            ? DoTiles(isa::Tiles::Decode(d))
                            : DoWeights(isa::Weights::Decode(d));
      if (!good) break;
      out_.beats.back().last = true;
      ++out_.complete;
    }
    return out_;
  }

 private:
  bool Stop(Fault fault, uint64_t addr) {
    out_.fault = fault;
    out_.fault_addr = addr & ((uint64_t{1} << 36) - 1);
    return false;
  }

  bool DoTiles(const isa::Tiles& d) {
    if (d.tiles == 0 || d.rows == 0 || d.rows > p_.rows || d.cols == 0 ||
        d.cols > p_.cols)
      return Stop(Fault::kIllegalDescriptor, 0);
    for (const uint64_t v :
         {uint64_t{d.ub_addr}, uint64_t{d.pitch}, uint64_t{d.tile_stride}}) {
      if (v % 2 != 0) return Stop(Fault::kMisaligned, v);
    }
    for (uint64_t t = 0; t < d.tiles; ++t) {
      for (int64_t i = 0; i < p_.rows; ++i) {
        const uint64_t row = d.ub_addr + t * d.tile_stride + i * d.pitch;
        if (i < d.rows && row + 2 * d.cols > uint64_t(p_.ub_bytes))
          return Stop(Fault::kUbRange, row);
        for (int64_t b = 0; b < 2 * p_.cols; ++b)
          Put(i < d.rows && b < 2 * d.cols ? UbByte(row + b) : 0,
              d.header.flags & isa::Tiles::kTranspose);
      }
    }
    return true;
  }

  bool DoWeights(const isa::Weights& d) {
    const uint64_t beat = p_.beat_bytes();
    if (d.tiles == 0) return Stop(Fault::kIllegalDescriptor, 0);
    if (d.hbm_addr % beat != 0) return Stop(Fault::kMisaligned, d.hbm_addr);
    const uint64_t bytes = d.tiles * static_cast<uint64_t>(p_.tile_bytes());
    for (uint64_t b = 0; b < bytes; ++b) {
      if (b % beat == 0 && d.hbm_addr + b + beat > limit_)
        return Stop(Fault::kHbmRange, d.hbm_addr + b);
      Put(HbmByte(d.hbm_addr + b), d.header.flags & isa::Weights::kTranspose);
    }
    return true;
  }

  // A beat that a fault cuts off never comes.
  void Put(uint8_t byte, bool transpose) {
    part_.push_back(byte);
    if (static_cast<int64_t>(part_.size()) < p_.beat_bytes()) return;
    out_.beats.push_back({part_, transpose});
    part_.clear();
  }

  const Preset& p_;
  const uint64_t limit_;
  TilesExpected out_;
  std::vector<uint8_t> part_;
};

}  // namespace

TilesExpected TilesReference(const Preset& preset, uint64_t hbm_limit,
                             const std::vector<Descriptor>& list) {
  return Reference(preset, hbm_limit).Run(list);
}

}  // namespace systole::dma_test
