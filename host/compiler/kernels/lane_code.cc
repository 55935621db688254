// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A load may be repeated, and a value that is not needed for long moves to the
// cross unit's bank. A graph for which that is not enough is rejected.
#include "host/compiler/kernels/lane_code.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/compiler/kernels/lane_cost.h"
#include "host/compiler/kernels/lane_guard.h"
#include "host/compiler/kernels/lane_instructions.h"
#include "host/compiler/kernels/lane_order.h"
#include "host/compiler/kernels/lane_registers.h"
#include "host/compiler/kernels/lane_schedule.h"
#include "host/compiler/kernels/lane_spread.h"
#include "host/compiler/kernels/lane_uses.h"

namespace systole::lanes {
namespace {

using vpu::Instr;
using vpu::Op;

// Scalar registers: argument i is s(i + 1).
constexpr int kStep = 9, kFirstConstant = 10;
constexpr int Argument(int i) { return 1 + i; }
// Instructions of a pair of groups of which two, and one for what is left over,
// are worth their room.
constexpr int kShortPair = 64;

class Emitter {
 public:
  Emitter(const LaneGraph& graph, const std::vector<LaneStore>& stores,
          const LanePlaces& places, const Preset& preset, int base, Loop loop)
      : graph_(graph),
        stores_(stores),
        places_(places),
        base_(base),
        loop_(loop),
        preset_(preset),
        steps_(OrderOf(graph, stores)),
        uses_(graph, steps_) {}

  // A group has as many rows as a register. Of many rows, iterations of two
  // groups come first: while an instruction waits, the other group's runs.
  absl::StatusOr<LaneCode> Run(RunRows rows) {
    const bool pairs = rows != RunRows::kFew;
    code_.main = base_;
    if (graph_.guarded()) AppendClear(preset_, code_.words);
    Put(Make(Op::kLanes, 0, Argument(kLaneCount)));
    if (pairs) PrepareSecond();
    if (loop_ == Loop::kRows) HoldConstants();
    if (absl::Status s = pairs ? PairsOfGroups() : absl::OkStatus(); !s.ok())
      return s;
    if (rows != RunRows::kPairs)
      if (absl::Status s = Groups(); !s.ok()) return s;
    if (!pairs)
      code_.row_cycles =
          RowCycles(code_.words, loop_start_ - base_, 1, preset_);
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

  absl::Status Groups() {
    if (loop_ == Loop::kRows && !groups_.empty()) {
      to_end_.push_back(code_.words.size());
      Put(Make(Op::kBeq, 0, 0, Argument(kRowCount), 0));
    }
    groups_.assign(1, {graph_.size(), LaneRegisters::kAll});
    ReserveGuards();
    loop_start_ = Next();
    Put(Make(Op::kVl, 0, Argument(kRowCount)));
    if (loop_ != Loop::kRows) BeginPlace();
    if (absl::Status s = Steps(); !s.ok()) return s;
    loop_ == Loop::kRows ? NextRows() : NextPlace();
    return absl::OkStatus();
  }

  absl::Status Steps() {
    if (!all_constants_) constants_.Forget();
    uses_.Begin();
    for (now_ = 0; now_ < static_cast<int>(steps_.size()); ++now_) {
      constants_.Unpin();
      const LaneStep& step = steps_[now_];
      for (size_t g = 0; g < groups_.size(); ++g) {
        group_ = g;
        groups_[g].Unpin();
        if (absl::Status s = Step(step); !s.ok()) return s;
      }
      if (base_ + code_.words.size() > vpu::kImemWords - 64) return TooLong();
    }
    return absl::OkStatus();
  }

  absl::Status Step(const LaneStep& step) {
    if (step.store == LaneStep::kCompute) return Compute(step.lane);
    if (step.store >= 0) return Store(stores_[step.store], step);
    const int reg = registers().Of(step.lane), guards = kGuards[group_];
    Put(Make(Op::kIor, guards, guards, reg));
    if (Ends(step.lane)) registers().Release(reg);
    return absl::OkStatus();
  }
  void ReserveGuards() {
    if (!graph_.guarded()) return;
    for (LaneRegisters& group : groups_) {
      for (const int reg : kGuards) group.Reserve(reg);
    }
  }

  // The addresses of the second group's rows, in the last registers.
  void PrepareSecond() {
    for (int walk = 0; walk < kWalks; ++walk) {
      if (!WalkIsUsed(walk)) continue;
      second_[walk] = constants_.TakeLast();
      Put(Make(Op::kSlli, kStep, Argument(kStrides + walk), 0,
               Log2(preset_.vector_rows())));
      Put(Make(Op::kAdd, second_[walk], Argument(walk), kStep));
    }
  }
  bool WalkIsUsed(int walk) const { return UsesWalk(graph_, places_, walk); }

  absl::Status PairsOfGroups() {
    const int both = 2 * preset_.vector_rows();
    const int rows = Argument(kRowCount);
    groups_.assign(1, {graph_.size(), LaneRegisters::kFirstHalf});
    groups_.push_back({graph_.size(), LaneRegisters::kSecondHalf});
    ReserveGuards();
    const size_t least = code_.words.size();
    Put(Make(Op::kLi, kStep, 0, 0, both));
    Put(Make(Op::kVl, 0, kStep));
    const size_t few = code_.words.size();
    Put(Make(Op::kBlt, 0, rows, kStep, 0));
    const size_t start = code_.words.size();
    if (absl::Status s = Pair(); !s.ok()) return s;
    // Two pairs, with the registers in turns: an instruction need not wait for
    // those of the pair before that read its destination.
    const bool two = code_.words.size() - start <= kShortPair;
    if (two) {
      code_.words[least] = Make(Op::kLi, kStep, 0, 0, 2 * both).Encode();
      if (absl::Status s = Pair(); !s.ok()) return s;
    }
    const int pairs = two ? 2 : 1;
    Schedule(code_.words, start, Argument(kLaneCount), preset_);
    Put(Make(Op::kAddi, kStep, rows, 0, 1 - pairs * both));
    Put(Make(Op::kBlt, 0, 0, kStep, base_ + static_cast<int>(start)));
    code_.row_cycles = RowCycles(code_.words, start, 2 * pairs, preset_);
    size_t fewer = few;
    if (two) {
      SetTarget(code_.words[few], Next());
      Put(Make(Op::kLi, kStep, 0, 0, both));
      fewer = code_.words.size();
      Put(Make(Op::kBlt, 0, rows, kStep, 0));
      if (absl::Status s = Pair(); !s.ok()) return s;
    }
    SetTarget(code_.words[fewer], Next());
    return absl::OkStatus();
  }
  absl::Status Pair() {
    absl::Status s = Steps();
    if (s.ok()) Advance(2);
    return s;
  }

  void Advance(int groups) {
    for (int walk = 0; walk < kWalks; ++walk) {
      if (!WalkIsUsed(walk)) continue;
      const int at = Argument(walk), second = second_[walk];
      Put(Make(Op::kSlli, kStep, Argument(kStrides + walk), 0,
               Log2(groups * preset_.vector_rows())));
      Put(Make(Op::kAdd, at, at, kStep));
      if (groups > 1) Put(Make(Op::kAdd, second, second, kStep));
    }
    Put(Make(Op::kAddi, Argument(kRowCount), Argument(kRowCount), 0,
             -groups * preset_.vector_rows()));
  }

  // Constants are loaded once where there are registers for all.
  void HoldConstants() {
    const std::vector<uint32_t> bits = ConstantsOf(graph_, stores_, steps_);
    all_constants_ = static_cast<int>(bits.size()) <= constants_.size();
    if (!all_constants_) return;
    for (const uint32_t value : bits) Scalar(value);
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

  void PutRows(Op op, int reg, const LanePlaces::Stream& stream) {
    if (stream.walk == kNoWalk)
      return Put(Make(op, reg, 0, 0, static_cast<int32_t>(stream.at)));
    const int address =
        group_ == 0 ? Argument(stream.walk) : second_[stream.walk];
    Put(Make(op, reg, address, Argument(kStrides + stream.walk),
             static_cast<int32_t>(stream.at)));
  }

  // Whether this is the last step that needs the value.
  bool Ends(Lane lane) const { return uses_.EndsBy(lane, now_); }

  LaneRegisters& registers() { return groups_[group_]; }
  int Farthest(LaneRegisters::Bank bank) {
    return registers().Farthest(
        bank, [this](Lane lane) { return uses_.Next(lane, now_); });
  }

  absl::StatusOr<int> LoadRegister() {
    int reg = registers().Free(LaneRegisters::kLoads);
    if (reg >= 0) return reg;
    reg = Farthest(LaneRegisters::kLoads);
    if (reg < 0) return absl::ResourceExhaustedError("registers of loads");
    registers().Release(reg);
    return reg;
  }

  // A register for a result; a value may move to the other bank.
  absl::StatusOr<int> ResultRegister(bool function) {
    auto bank = LaneRegisters::kAlus, other = LaneRegisters::kCross;
    if (function) std::swap(bank, other);
    const int reg = registers().Free(bank);
    if (reg >= 0) return reg;
    const int from = Farthest(bank);
    const int to = registers().Free(other);
    if (from < 0 || to < 0)
      return absl::ResourceExhaustedError("registers of results");
    const Lane moved = registers().HeldBy(from);
    Put(function ? Make(Op::kIor, to, from, from) : Make(Op::kMov, to, from));
    registers().Release(from);
    registers().Hold(to, moved);
    return from;
  }

  // The register of a value; loads the value if necessary.
  absl::StatusOr<int> Register(Lane lane) {
    if (registers().Of(lane) >= 0) return registers().Of(lane);
    const LaneLoad& load = graph_.node(lane).load;
    const absl::StatusOr<int> reg = LoadRegister();
    if (!reg.ok()) return reg;
    const LanePlaces::Operand& place = places_.operands[load.operand];
    if (load.pattern == Pattern::kSplat) {
      Put(Make(Op::kLd32, *reg, 0, 0, static_cast<int32_t>(place.row)));
    } else {
      const bool first_lane = load.pattern == Pattern::kRow;
      if (first_lane) Put(Make(Op::kLanes, 0, Scalar(1)));
      PutRows(kLoadOps[static_cast<int>(load.storage)], *reg, place.stream);
      if (first_lane) Put(Make(Op::kLanes, 0, Argument(kLaneCount)));
    }
    registers().Hold(*reg, lane);
    return *reg;
  }

  int Scalar(uint32_t bits) {
    if (bits == 0) return 0;
    const LaneConstants::Use use = constants_.Of(bits);
    if (use.load) Put(Make(Op::kLi, use.reg, 0, 0, static_cast<int32_t>(bits)));
    return use.reg;
  }

  absl::Status Compute(Lane lane) {
    const LaneNode& node = graph_.node(lane);
    Instr x = Make(node.op, 0);  // lane 0 of the bcl
    const std::array<Lane, 3> sources = SourcesOf(node);
    uint8_t* const fields[] = {&x.a, &x.b, &x.c};
    uint8_t* const modes[] = {&x.am, &x.bm, &x.cm};
    for (int i = 0; i < 3; ++i) {
      if (sources[i] < 0) continue;
      const LaneNode& source = graph_.node(sources[i]);
      if (source.kind == LaneNode::Kind::kConstant) {
        *fields[i] = static_cast<uint8_t>(Scalar(source.bits));
        *modes[i] = static_cast<uint8_t>(vpu::Mode::kScalar);
        continue;
      }
      const absl::StatusOr<int> reg = Register(sources[i]);
      if (!reg.ok()) return reg.status();
      registers().Pin(*reg);
      *fields[i] = static_cast<uint8_t>(*reg);
    }
    // The register of a value that ends here may take the result.
    for (int i = 0; i < 3; ++i) {
      if (sources[i] >= 0 && registers().Of(sources[i]) >= 0 &&
          Ends(sources[i]))
        registers().Release(registers().Of(sources[i]));
    }
    const absl::StatusOr<int> reg = ResultRegister(IsCross(node.op));
    if (!reg.ok()) return reg.status();
    x.d = static_cast<uint8_t>(*reg);
    Put(x);
    registers().Hold(*reg, lane);
    return absl::OkStatus();
  }

  absl::Status Store(const LaneStore& store, const LaneStep& step) {
    const LaneNode& node = graph_.node(step.lane);
    int from;
    if (node.kind == LaneNode::Kind::kConstant) {
      const int scalar = Scalar(node.bits);
      const absl::StatusOr<int> reg = ResultRegister(/*function=*/true);
      if (!reg.ok()) return reg.status();
      Instr x = Make(Op::kMov, *reg, scalar);
      x.am = static_cast<uint8_t>(vpu::Mode::kScalar);
      Put(x);
      from = *reg;
    } else {
      const absl::StatusOr<int> reg = Register(step.lane);
      if (!reg.ok()) return reg.status();
      from = *reg;
    }
    Op op = kStoreOps[static_cast<int>(store.storage)];
    if (store.bits) op = Op::kSt16h;
    if (store.first_lane) Put(Make(Op::kLanes, 0, Scalar(1)));
    PutRows(op, from, places_.stores[step.store]);
    if (store.first_lane) Put(Make(Op::kLanes, 0, Argument(kLaneCount)));
    if (Ends(step.lane) && registers().Of(step.lane) >= 0)
      registers().Release(registers().Of(step.lane));
    return absl::OkStatus();
  }

  const LaneGraph& graph_;
  const std::vector<LaneStore>& stores_;
  const LanePlaces& places_;
  const int base_;
  const Loop loop_;
  int loop_start_ = 0;  // first instruction
  const Preset& preset_;
  LaneCode code_;
  std::vector<size_t> to_end_;  // branches there
  const std::vector<LaneStep> steps_;
  LaneUses uses_;
  int now_ = 0;
  std::vector<LaneRegisters> groups_;
  size_t group_ = 0;  // whose code is emitted
  // Registers with the addresses of the second group, by walk.
  std::array<int, kWalks> second_ = {-1, -1, -1};
  LaneConstants constants_{kFirstConstant, vpu::kScalarRegs - kFirstConstant};
  bool all_constants_ = false;  // are held
  size_t skip_ = 0;             // the branch over a place
};

}  // namespace

absl::StatusOr<LaneCode> Emit(const LaneGraph& graph,
                              const std::vector<LaneStore>& stores,
                              const LanePlaces& places, const Preset& preset,
                              int base, Loop loop, RunRows rows) {
  if (rows != RunRows::kFew) {
    absl::StatusOr<LaneCode> code =
        Emitter(graph, stores, places, preset, base, loop).Run(rows);
    if (!absl::IsResourceExhausted(code.status())) return code;
  }
  return Emitter(graph, stores, places, preset, base, loop).Run(RunRows::kFew);
}

}  // namespace systole::lanes
