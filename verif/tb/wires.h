// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The cables between the chips of a device. A link's lanes arrive at the other
// end of its cable after a fixed number of cycles. In the simulation, a chip
// may be ahead of another one by up to this number.
//
//   Wires wires(4, TorusCables(2, 2), 8);
//   wires.Receive(chip, cycle, &pins.in.lanes);  // before the cycle
//   wires.Send(chip, cycle, pins.out.lanes);     // after it

#ifndef SYSTOLE_VERIF_TB_WIRES_H_
#define SYSTOLE_VERIF_TB_WIRES_H_

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "systole/cable.h"
#include "verif/tb/core_model.h"
#include "verif/tb/lanes.h"

namespace systole::tb {

// From X+ to X- and from Y+ to Y- of the neighbours, chips row by row. A ring
// of one chip has none.
inline std::vector<Cable> TorusCables(int columns, int rows) {
  std::vector<Cable> cables;
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      const int chip = y * columns + x;
      if (columns > 1)
        cables.push_back({{{chip, 0}, {y * columns + (x + 1) % columns, 1}}});
      if (rows > 1)
        cables.push_back({{{chip, 2}, {(y + 1) % rows * columns + x, 3}}});
    }
  }
  return cables;
}

class Wires {
 public:
  // No link has two cables. cycles: at least 1.
  Wires(int chips, const std::vector<Cable>& cables, int cycles)
      : cycles_(cycles),
        far_(chips),
        sent_(chips, std::vector<LanePins>(2 * cycles)) {
    for (const Cable& cable : cables) {
      for (int e = 0; e < 2; ++e) {
        const LinkEnd &here = cable.ends[e], &there = cable.ends[1 - e];
        far_[here.chip][here.link] = {there, cable.until};
      }
    }
  }

  int cycles() const { return cycles_; }
  // Flips bits at random: on average `rate` of every 2^20. The flipped bits
  // depend only on the seed and the chip's cycles.
  void SetErrors(int link_bytes, int rate, uint64_t seed) {
    link_bits_ = LinkBits(link_bytes);
    errors_.clear();
    if (rate == 0) return;
    for (size_t chip = 0; chip < sent_.size(); ++chip) {
      errors_.push_back({std::mt19937_64(seed * 0x9e3779b97f4a7c15u + chip),
                         std::geometric_distribution<uint64_t>(
                             rate / static_cast<double>(1 << 20)),
                         0});
      errors_.back().next = errors_.back().Draw();
    }
  }

  void Receive(int chip, uint64_t cycle, LanePins* lanes) const {
    if (cycle < static_cast<uint64_t>(cycles_)) {
      *lanes = {};
      return;
    }
    const uint64_t at = cycle - cycles_;
    for (int l = 0; l < kLinks; ++l) {
      const Far& far = far_[chip][l];
      (*lanes)[l] =
          far.end.chip < 0 || cycle >= far.until
              ? LinkWords{}
              : sent_[far.end.chip][at % sent_[0].size()][far.end.link];
    }
  }
  void Send(int chip, uint64_t cycle, const LanePins& lanes) {
    LanePins& place = Sent(chip, cycle);
    place = lanes;
    if (!errors_.empty()) Turn(errors_[chip], &place);
  }
  // What the chip has sent in a cycle, one of its last 2 * cycles().
  LanePins& Sent(int chip, uint64_t cycle) {
    return sent_[chip][cycle % sent_[0].size()];
  }
  // The chip at the other end of a link; -1: it has no cable.
  int Neighbour(int chip, int link) const { return far_[chip][link].end.chip; }

 private:
  struct Far {
    LinkEnd end = {-1, 0};
    uint64_t until = 0;
  };
  struct Errors {
    std::mt19937_64 random;
    std::geometric_distribution<uint64_t> distance;
    uint64_t next;  // bits until the next flip
    uint64_t Draw() { return distance(random); }
  };

  void Turn(Errors& errors, LanePins* lanes) const {
    const uint64_t bits = uint64_t{kLinks} * link_bits_;
    while (errors.next < bits) {
      const auto link = errors.next / link_bits_,
                 bit = errors.next % link_bits_;
      (*lanes)[link][bit / 32] ^= 1u << bit % 32;
      errors.next += 1 + errors.Draw();
    }
    errors.next -= bits;
  }

  int cycles_;
  std::vector<std::array<Far, kLinks>> far_;  // by chip
  std::vector<std::vector<LanePins>> sent_;   // by chip and cycle
  int link_bits_ = 0;
  std::vector<Errors> errors_;  // by sending chip
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_WIRES_H_
