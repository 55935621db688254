// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Registers while code is emitted: what each of them holds. Vector registers
// belong to a group of rows, scalar ones to all groups.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_REGISTERS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_REGISTERS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "host/compiler/kernels/lane_graph.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {

class LaneRegisters {
 public:
  // The registers of the load units, of the ALUs, and of the cross unit.
  enum Bank { kLoads, kAlus, kCross };

  // For a graph with so many values.
  explicit LaneRegisters(int values) : place_(values, -1) { held_.fill(kNone); }
  // The registers of a bank: from the first one to the one behind the last.
  static constexpr int First(Bank bank) { return 2 * vpu::kBankRegs * bank; }
  static constexpr int End(Bank bank) {
    return bank == kCross ? vpu::kVectorRegs : First(bank) + 2 * vpu::kBankRegs;
  }
  static constexpr Bank BankOf(int reg) {
    return static_cast<Bank>(reg / (2 * vpu::kBankRegs));
  }

  // The register that holds the value, or -1.
  int Of(Lane lane) const { return place_[lane]; }
  Lane HeldBy(int reg) const { return held_[reg]; }

  void Hold(int reg, Lane lane) {
    held_[reg] = lane;
    place_[lane] = reg;
  }
  void Release(int reg) {
    if (held_[reg] >= 0) place_[held_[reg]] = -1;
    held_[reg] = kNone;
    freed_[reg] = ++clock_;
    pinned_.erase(std::remove(pinned_.begin(), pinned_.end(), reg),
                  pinned_.end());
  }

  // Holds no value of the graph.
  void Reserve(int reg) { held_[reg] = kReserved; }

  // Registers that the present step needs.
  void Pin(int reg) { pinned_.push_back(reg); }
  void Unpin() { pinned_.clear(); }

  // The free register of the bank that has been free for longest; -1 if there
  // is none. Of two units, they take turns.
  int Free(Bank bank) {
    const int units = (End(bank) - First(bank)) / vpu::kBankRegs;
    for (int i = 0; i < units; ++i) {
      const int unit = (turns_[bank] + i) % units;
      int best = -1;
      for (int k = 0; k < vpu::kBankRegs; ++k) {
        const int reg = First(bank) + unit * vpu::kBankRegs + k;
        if (held_[reg] != kNone || IsPinned(reg)) continue;
        if (best < 0 || freed_[reg] < freed_[best]) best = reg;
      }
      if (best < 0) continue;
      turns_[bank] = (unit + 1) % units;
      return best;
    }
    return -1;
  }

  // The free register of the bank with the least cost; -1 if there is none.
  template <typename Cost>
  int FreeWith(Bank bank, const Cost& cost) const {
    int best = -1;
    int64_t least = 0;
    for (int reg = First(bank); reg < End(bank); ++reg) {
      if (held_[reg] != kNone || IsPinned(reg)) continue;
      const int64_t of = cost(reg);
      if (best >= 0 && of >= least) continue;
      best = reg;
      least = of;
    }
    return best;
  }

  // The register of the bank whose value is needed last, or -1.
  template <typename NextUse>
  int Farthest(Bank bank, const NextUse& next_use) const {
    int best = -1, when = -1;
    for (int reg = First(bank); reg < End(bank); ++reg) {
      if (IsPinned(reg) || held_[reg] < 0) continue;
      const int use = next_use(held_[reg]);
      if (use > when) {
        when = use;
        best = reg;
      }
    }
    return best;
  }

 private:
  static constexpr Lane kNone = -1, kReserved = -2;

  bool IsPinned(int reg) const {
    return std::find(pinned_.begin(), pinned_.end(), reg) != pinned_.end();
  }

  std::array<int, 3> turns_ = {};
  std::array<Lane, vpu::kVectorRegs> held_;
  std::array<int, vpu::kVectorRegs> freed_ = {};  // when
  int clock_ = 0;
  std::vector<int> place_;  // register of a value, or -1
  std::vector<int> pinned_;
};

// Scalar registers with constants.
class LaneConstants {
 public:
  LaneConstants(int first, int count) : first_(first), held_(count) {}

  int size() const { return static_cast<int>(held_.size()); }
  // Gives the last register to another use.
  int TakeLast() {
    held_.pop_back();
    return first_ + size();
  }

  struct Use {
    int reg;
    bool load;  // it does not hold the constant yet
  };
  // The register of a constant, which the present step needs; of others, the
  // one that was needed last gives way.
  Use Of(uint32_t bits) {
    Held* oldest = nullptr;
    for (Held& held : held_) {
      if (held.used >= 0 && held.bits == bits) {
        held.used = ++clock_;
        held.pinned = true;
        return {RegisterOf(held), false};
      }
      if (!held.pinned && (oldest == nullptr || held.used < oldest->used))
        oldest = &held;
    }
    *oldest = {bits, ++clock_, true};
    return {RegisterOf(*oldest), true};
  }
  void Unpin() {
    for (Held& held : held_) held.pinned = false;
  }
  void Forget() { std::fill(held_.begin(), held_.end(), Held{}); }

 private:
  struct Held {
    uint32_t bits = 0;
    int used = -1;
    bool pinned = false;
  };
  int RegisterOf(const Held& held) const {
    return first_ + static_cast<int>(&held - held_.data());
  }

  const int first_;
  std::vector<Held> held_;
  int clock_ = 0;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_REGISTERS_H_
