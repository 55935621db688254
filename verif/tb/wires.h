// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The cables between the chips of a torus: a link's lanes arrive at the
// neighbour's link of the opposite direction a fixed number of cycles later.
// Chips may be simulated ahead of each other by up to that number.
//
//   Wires wires(2, 2, 8);
//   wires.Receive(chip, cycle, &pins.in.lanes);  // before the cycle
//   wires.Send(chip, cycle, pins.out.lanes);     // after it

#ifndef SYSTOLE_VERIF_TB_WIRES_H_
#define SYSTOLE_VERIF_TB_WIRES_H_

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "verif/tb/core_model.h"

namespace systole::tb {

class Wires {
 public:
  // Chips row by row; cycles: 1 at least.
  Wires(int columns, int rows, int cycles)
      : columns_(columns),
        rows_(rows),
        cycles_(cycles),
        sent_(columns * rows, std::vector<LanePins>(2 * cycles)) {}

  int cycles() const { return cycles_; }
  // Called with a chip's lanes on their way, and may change them (tests).
  void SetFault(
      std::function<void(int chip, uint64_t cycle, LanePins*)> fault) {
    fault_ = std::move(fault);
  }

  void Receive(int chip, uint64_t cycle, LanePins* lanes) const {
    if (cycle < static_cast<uint64_t>(cycles_)) {
      *lanes = {};
      return;
    }
    const int x = chip % columns_, y = chip / columns_;
    const int from[kLinks] = {Number(x + 1, y), Number(x + columns_ - 1, y),
                              Number(x, y + 1), Number(x, y + rows_ - 1)};
    const uint64_t at = cycle - cycles_;
    for (int l = 0; l < kLinks; ++l) {
      const bool there = l < 2 ? columns_ > 1 : rows_ > 1;
      (*lanes)[l] =
          there ? sent_[from[l]][at % sent_[0].size()][l ^ 1] : LinkWords{};
    }
  }
  void Send(int chip, uint64_t cycle, const LanePins& lanes) {
    LanePins& place = sent_[chip][cycle % sent_[0].size()];
    place = lanes;
    if (fault_) fault_(chip, cycle, &place);
  }

 private:
  int Number(int x, int y) const { return y % rows_ * columns_ + x % columns_; }

  int columns_, rows_, cycles_;
  std::vector<std::vector<LanePins>> sent_;  // of each chip, by cycle
  std::function<void(int, uint64_t, LanePins*)> fault_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_WIRES_H_
