// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loops over the rows of a run, a few groups at a time (lane_groups.h).
#include "host/compiler/kernels/lane_code.h"

#include <utility>

#include "host/compiler/kernels/lane_cost.h"
#include "host/compiler/kernels/lane_groups.h"
#include "host/compiler/kernels/lane_guard.h"
#include "host/compiler/kernels/lane_instructions.h"
#include "host/compiler/kernels/lane_spread.h"

namespace systole::lanes {
namespace {

using vpu::Instr;
using vpu::Op;

constexpr int kStep = kStepRegister;
constexpr int Argument(int i) { return ArgumentRegister(i); }
// Steps of a graph of which four groups, and two for what is left over, are
// worth their room.
constexpr int kShort = 32;

class Emitter {
 public:
  Emitter(const LaneGraph& graph, const std::vector<LaneStore>& stores,
          const LanePlaces& places, const Preset& preset, int base, Loop loop)
      : graph_(graph),
        places_(places),
        base_(base),
        loop_(loop),
        preset_(preset),
        groups_(graph, stores, places, preset, loop, code_.words) {}

  // Of many rows, iterations of several groups come first: while an instruction
  // waits, another group's runs.
  absl::StatusOr<LaneCode> Run(RunRows rows) {
    const bool pairs = rows != RunRows::kFew;
    code_.main = base_;
    if (graph_.guarded()) AppendClear(preset_, code_.words);
    Put(Make(Op::kLanes, 0, Argument(kLaneCount)));
    if (pairs) PrepareSecond();
    if (loop_ == Loop::kRows) groups_.HoldConstants();
    if (absl::Status s = pairs ? Pairs(rows) : absl::OkStatus(); !s.ok())
      return s;
    if (rows == RunRows::kFew || rows == RunRows::kMany)
      if (absl::Status s = Groups(pairs); !s.ok()) return s;
    if (!pairs)
      code_.row_cycles = RowCycles(code_.words, loop_start_ - base_, 1, preset_,
                                   StridesOf(places_));
    for (const size_t branch : to_end_) SetTarget(code_.words[branch], Next());
    if (!graph_.guarded()) {
      Put(Make(Op::kHalt, 0));
      code_.spread =
          AppendSpread(graph_, places_, static_cast<int32_t>(preset_.cols),
                       base_, code_.words);
    }
    if (base_ + code_.words.size() > vpu::kImemWords) return TooLong();
    return std::move(code_);
  }

 private:
  static absl::Status TooLong() {
    return absl::ResourceExhaustedError("the instruction memory is too small");
  }

  void Put(const Instr& x) { code_.words.push_back(x.Encode()); }
  int Next() const { return base_ + static_cast<int>(code_.words.size()); }
  int GroupRows() const { return preset_.vector_rows(); }

  absl::Status Groups(bool behind_pairs) {
    if (loop_ == Loop::kRows && behind_pairs) {
      to_end_.push_back(code_.words.size());
      Put(Make(Op::kBeq, 0, 0, Argument(kRowCount), 0));
    }
    loop_start_ = Next();
    Put(Make(Op::kVl, 0, Argument(kRowCount)));
    if (loop_ != Loop::kRows) BeginPlace();
    if (absl::Status s = groups_.Emit(1); !s.ok()) return s;
    loop_ == Loop::kRows ? NextRows() : NextPlace();
    return absl::OkStatus();
  }

  // Where distances are not known, the second group has addresses of its own.
  void PrepareSecond() {
    if (groups_.KnowsStrides()) return;
    groups_.TakeAddresses();
    for (int walk = 0; walk < kWalks; ++walk) {
      if (!groups_.WalkIsUsed(walk)) continue;
      Put(Make(Op::kSlli, kStep, Argument(kStrides + walk), 0,
               Log2(GroupRows())));
      Put(Make(Op::kAdd, groups_.Address(1, walk), Argument(walk), kStep));
    }
  }

  // Groups of an iteration, of the loops one behind the other.
  std::vector<int> GroupsOf(RunRows rows) const {
    if (rows == RunRows::kFours) return {4};
    const bool two = rows == RunRows::kMany && groups_.KnowsStrides() &&
                     groups_.steps() <= kShort;
    return two ? std::vector{4, 2} : std::vector{2};
  }

  absl::Status Pairs(RunRows of_run) {
    const int rows = Argument(kRowCount);
    std::vector<size_t> fewer;
    const std::vector<int> all = GroupsOf(of_run);
    for (const int groups : all) {
      for (const size_t branch : std::exchange(fewer, {}))
        SetTarget(code_.words[branch], Next());
      Put(Make(Op::kLi, kStep, 0, 0, groups * GroupRows()));
      if (groups == all[0]) Put(Make(Op::kVl, 0, kStep));
      fewer.push_back(code_.words.size());
      Put(Make(Op::kBlt, 0, rows, kStep, 0));
      const size_t start = code_.words.size();
      if (absl::Status s = groups_.Emit(groups); !s.ok()) return s;
      if (TooMany()) return TooLong();
      Advance(groups);
      Put(Make(Op::kAddi, kStep, rows, 0, 1 - groups * GroupRows()));
      Put(Make(Op::kBlt, 0, 0, kStep, base_ + static_cast<int>(start)));
      if (code_.row_cycles == 0)
        code_.row_cycles =
            RowCycles(code_.words, start, groups, preset_, StridesOf(places_));
    }
    for (const size_t branch : fewer) SetTarget(code_.words[branch], Next());
    return absl::OkStatus();
  }
  bool TooMany() const {
    return base_ + code_.words.size() > vpu::kImemWords - 64;
  }

  void Advance(int groups) {
    for (int walk = 0; walk < kWalks; ++walk) {
      if (!groups_.WalkIsUsed(walk)) continue;
      Put(Make(Op::kSlli, kStep, Argument(kStrides + walk), 0,
               Log2(groups * GroupRows())));
      const int at = Argument(walk);
      Put(Make(Op::kAdd, at, at, kStep));
      if (groups == 1) continue;
      const int second = groups_.Address(1, walk);
      if (second >= 0) Put(Make(Op::kAdd, second, second, kStep));
    }
    Put(Make(Op::kAddi, Argument(kRowCount), Argument(kRowCount), 0,
             -groups * GroupRows()));
  }

  void NextRows() {
    Advance(1);
    Put(Make(Op::kBlt, 0, 0, Argument(kRowCount), loop_start_));
  }
  // The number of rows is not needed any more.
  void BeginPlace() {
    const int offset = Argument(kRowCount);
    Put(Make(Op::kAdd, offset, Argument(kPlaceOffset)));
    loop_start_ = Next();
    Put(Make(Op::kLds, Argument(0), Argument(kTable)));
    skip_ = code_.words.size();
    Put(Make(Op::kBlt, 0, Argument(0), 0, 0));
    Put(Make(Op::kAdd, Argument(0), Argument(0), offset));
  }
  void NextPlace() {
    const int linear = Argument(1), table = Argument(kTable),
              count = Argument(kPlaceCount);
    if (loop_ == Loop::kFencedPlaces) Put(Make(Op::kFence, 0));
    SetTarget(code_.words[skip_], Next());
    Put(Make(Op::kAdd, linear, linear, Argument(kLinearStep)));
    Put(Make(Op::kAddi, table, table, 0, 4));
    Put(Make(Op::kAddi, count, count, 0, -1));
    Put(Make(Op::kBlt, 0, 0, count, loop_start_));
  }

  const LaneGraph& graph_;
  const LanePlaces& places_;
  const int base_;
  const Loop loop_;
  int loop_start_ = 0;  // first instruction
  const Preset& preset_;
  LaneCode code_;
  LaneGroups groups_;
  std::vector<size_t> to_end_;  // branches there
  size_t skip_ = 0;             // the branch over a place
};

}  // namespace

absl::StatusOr<LaneCode> Emit(const LaneGraph& graph,
                              const std::vector<LaneStore>& stores,
                              const LanePlaces& places, const Preset& preset,
                              int base, Loop loop, RunRows rows) {
  const auto emit = [&](RunRows of) {
    return Emitter(graph, stores, places, preset, base, loop).Run(of);
  };
  absl::StatusOr<LaneCode> code = emit(rows);
  if (rows == RunRows::kFours && absl::IsResourceExhausted(code.status()))
    code = emit(rows = RunRows::kPairs);
  if (rows != RunRows::kFew && absl::IsResourceExhausted(code.status()))
    code = emit(RunRows::kFew);
  return code;
}

}  // namespace systole::lanes
