// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Code of a graph for groups of rows, as many as a register has. Instructions
// are dispatched in order, and a unit that waits for its sources fills its
// queue until nothing more is dispatched. So each instruction is one of those
// that can start first, as the model of the unit's timing says (lane_timing.h),
// among the next steps of all groups; and its result goes to the register in
// which it starts first. Loads come as soon as they have a register.
//
// A load may be repeated, and a value that is not needed for long moves to the
// cross unit's bank. A graph for which that is not enough is rejected.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_GROUPS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_GROUPS_H_

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_graph.h"
#include "host/compiler/kernels/lane_order.h"
#include "host/compiler/kernels/lane_registers.h"
#include "host/compiler/kernels/lane_timing.h"
#include "host/compiler/kernels/lane_uses.h"
#include "systole/gen/presets.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {

// Scalar registers: argument i is s(i + 1).
inline constexpr int kStepRegister = 9, kFirstConstant = 10;
inline constexpr int ArgumentRegister(int i) { return 1 + i; }

// The distances of the walks, as the timing needs them.
LaneTiming::Strides StridesOf(const LanePlaces& places);

class LaneGroups {
 public:
  // Appends to `words`.
  LaneGroups(const LaneGraph& graph, const std::vector<LaneStore>& stores,
             const LanePlaces& places, const Preset& preset, Loop loop,
             std::vector<uint64_t>& words);

  // Where the second group has addresses of its own, in the last registers.
  void TakeAddresses();
  // Register of a walk's place, of a group.
  int Address(int group, int walk) const {
    return group == 0 ? ArgumentRegister(walk) : second_[walk];
  }
  bool WalkIsUsed(int walk) const { return UsesWalk(graph_, places_, walk); }
  bool KnowsStrides() const;
  int steps() const { return static_cast<int>(steps_[0].size()); }
  // Constants are loaded once where there are registers for all.
  void HoldConstants();

  // Code of so many groups, one behind the other, that starts anew.
  // Errors: ResourceExhausted: registers.
  absl::Status Emit(int groups);

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  struct Item {
    int group;
    LaneStep step;
    bool done = false;
  };
  struct Group {
    std::vector<int> place;  // the register of each value, or -1
    std::vector<int> uses;   // steps left
  };
  struct Holder {
    int group = -1;  // -1: none
    Lane lane = -1;
  };

  void Put(const vpu::Instr& x);
  vpu::Instr RowsOf(vpu::Op op, const LanePlaces::Stream& stream,
                    int group) const;
  absl::Status EmitOnce(int groups);
  int64_t CyclesFrom(size_t start, int iterations) const;
  void FindOneRow();
  void SetLanes(bool one);
  void SetRows(bool one);
  void Arrange(int groups);
  int Choose();
  int64_t StartOf(const Item& item, bool oldest) const;
  absl::Status Do(const Item& item);
  absl::Status Compute(const Item& item);
  absl::Status Store(const Item& item);

  bool IsFree(int reg) const { return held_[reg].group < 0 && !pinned_[reg]; }
  void Hold(int reg, int group, Lane lane);
  void Release(int reg);
  void Use(int group, Lane lane);
  // The free register of the bank in which the instruction starts first, and
  // when; -1: none is free.
  struct Place {
    int reg = -1;
    int64_t start = 0;
  };
  Place Best(LaneRegisters::Bank bank, const vpu::Instr& x) const;
  int Free(LaneRegisters::Bank bank) const;
  std::vector<Lane> NeededBy(const LaneStep& step) const;
  int NextUse(const Holder& holder) const;
  int Farthest(LaneRegisters::Bank bank) const;
  absl::StatusOr<int> Register(int group, Lane lane);
  absl::StatusOr<int> Load(int group, Lane lane);
  vpu::Instr LoadOf(int group, Lane lane) const;
  int Scalar(uint32_t bits);

  const LaneGraph& graph_;
  const std::vector<LaneStore>& stores_;
  const LanePlaces& places_;
  std::vector<uint64_t>& words_;
  const int rows_;  // of a group
  // In two orders: so that neighbours do not load the same place of their
  // rows, in one bank, at a time.
  const std::array<std::vector<LaneStep>, 2> steps_;
  LaneTiming timing_;
  const LaneTiming fresh_;
  std::vector<bool> one_row_;  // of each load
  std::vector<Item> items_;
  size_t oldest_ = 0;
  int window_ = 1;  // steps among which the next one is chosen
  std::vector<Group> groups_;
  std::array<Holder, vpu::kVectorRegs> held_;
  std::array<bool, vpu::kVectorRegs> pinned_{};
  bool one_lane_ = false, is_one_row_ = false;
  // Registers with the addresses of the second group, by walk.
  std::array<int, kWalks> second_ = {-1, -1, -1};
  LaneConstants constants_{kFirstConstant, vpu::kScalarRegs - kFirstConstant};
  bool all_constants_ = false;  // are held
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_GROUPS_H_
