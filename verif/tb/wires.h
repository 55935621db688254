// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The cables between the chips of a torus. A link's lanes arrive at the
// neighbour's link of the opposite direction after a fixed number of cycles. In
// the simulation, a chip may be ahead of another one by up to this number.
//
//   Wires wires(2, 2, 8);
//   wires.Receive(chip, cycle, &pins.in.lanes);  // before the cycle
//   wires.Send(chip, cycle, pins.out.lanes);     // after it

#ifndef SYSTOLE_VERIF_TB_WIRES_H_
#define SYSTOLE_VERIF_TB_WIRES_H_

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "verif/tb/core_model.h"
#include "verif/tb/lanes.h"

namespace systole::tb {

class Wires {
 public:
  // Chips are numbered row by row. cycles: at least 1.
  Wires(int columns, int rows, int cycles)
      : columns_(columns),
        rows_(rows),
        cycles_(cycles),
        sent_(columns * rows, std::vector<LanePins>(2 * cycles)) {}

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
      const int from = Neighbour(chip, l);
      (*lanes)[l] =
          from < 0 ? LinkWords{} : sent_[from][at % sent_[0].size()][l ^ 1];
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
  int Neighbour(int chip, int link) const {
    if ((link < 2 ? columns_ : rows_) == 1) return -1;
    const int x = chip % columns_, y = chip / columns_;
    switch (link) {
      case 0:
        return Number(x + 1, y);
      case 1:
        return Number(x + columns_ - 1, y);
      case 2:
        return Number(x, y + 1);
      default:
        return Number(x, y + rows_ - 1);
    }
  }

 private:
  struct Errors {
    std::mt19937_64 random;
    std::geometric_distribution<uint64_t> distance;
    uint64_t next;  // bits until the next flip
    uint64_t Draw() { return distance(random); }
  };

  int Number(int x, int y) const { return y % rows_ * columns_ + x % columns_; }
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

  int columns_, rows_, cycles_;
  std::vector<std::vector<LanePins>> sent_;  // by chip and cycle
  int link_bits_ = 0;
  std::vector<Errors> errors_;  // by sending chip
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_WIRES_H_
