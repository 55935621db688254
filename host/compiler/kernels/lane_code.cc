// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Register allocation: a load may be repeated, and a value that is not needed
// for long moves to the cross unit's bank. A graph for which that is not enough
// is rejected.
#include "host/compiler/kernels/lane_code.h"

#include <algorithm>
#include <array>
#include <limits>

#include "host/compiler/kernels/lane_instructions.h"
#include "host/compiler/kernels/lane_order.h"

namespace systole::lanes {
namespace {

using vpu::Instr;
using vpu::Op;

// Scalar registers: argument i is s(i + 1).
constexpr int kStep = 9, kFirstConstant = 10;
constexpr int Argument(int i) { return 1 + i; }
constexpr int kNever = std::numeric_limits<int>::max();

// Registers that a class of values may use.
struct Bank {
  int first, end;
};
constexpr Bank kLoads = {0, 16}, kAlus = {16, 32}, kCross = {32, 40};

class Emitter {
 public:
  Emitter(const LaneGraph& graph, const std::vector<LaneStore>& stores,
          const LanePlaces& places, const Preset& preset, int base, Loop loop)
      : graph_(graph),
        stores_(stores),
        places_(places),
        base_(base),
        loop_(loop),
        cols_(static_cast<int32_t>(preset.cols)),
        uses_(graph.size()),
        next_(graph.size(), 0),
        place_(graph.size(), -1) {}

  absl::StatusOr<LaneCode> Run() {
    code_.main = base_;
    steps_ = OrderOf(graph_, stores_);
    FindUses();
    Put(Make(Op::kLanes, 0, Argument(kLaneCount)));
    loop_start_ = Next();
    Put(Make(Op::kVl, 0, Argument(kRowCount)));
    if (loop_ != Loop::kRows) BeginPlace();
    for (now_ = 0; now_ < static_cast<int>(steps_.size()); ++now_) {
      pinned_.clear();
      pinned_scalars_.clear();
      const LaneStep& step = steps_[now_];
      if (absl::Status s = step.store < 0 ? Compute(step.lane)
                                          : Store(stores_[step.store], step);
          !s.ok())
        return s;
      if (base_ + code_.words.size() > vpu::kImemWords - 64) return TooLong();
    }
    if (loop_ == Loop::kRows) {
      NextRows();
    } else {
      NextPlace();
    }
    Put(Make(Op::kHalt, 0));
    Spread();
    if (base_ + code_.words.size() > vpu::kImemWords) return TooLong();
    return std::move(code_);
  }

 private:
  static absl::Status TooLong() {
    return absl::ResourceExhaustedError("the instruction memory is too small");
  }

  void Put(const Instr& x) { code_.words.push_back(x.Encode()); }
  int Next() const { return base_ + static_cast<int>(code_.words.size()); }

  void NextRows() {
    for (int walk = 0; walk < kWalks; ++walk) {
      if (!walks_[walk]) continue;
      Put(Make(Op::kSlli, kStep, Argument(kStrides + walk), 0, 3));
      Put(Make(Op::kAdd, Argument(walk), Argument(walk), kStep));
    }
    const int rows = Argument(kRowCount);
    Put(Make(Op::kAddi, rows, rows, 0, -vpu::kVectorRows));
    Put(Make(Op::kBlt, 0, 0, rows, loop_start_));
  }
  // The number of rows is not needed any more.
  void BeginPlace() {
    const int offset = Argument(kRowCount);
    Put(Make(Op::kAdd, offset, Argument(kPlaceOffset)));
    loop_start_ = Next();
    Put(Make(Op::kLds, Argument(0), Argument(kTable)));
    Put(Make(Op::kAdd, Argument(0), Argument(0), offset));
  }
  void NextPlace() {
    const int linear = Argument(1), table = Argument(kTable),
              count = Argument(kPlaceCount);
    if (loop_ == Loop::kFencedPlaces) Put(Make(Op::kFence, 0));
    Put(Make(Op::kAdd, linear, linear, Argument(kLinearStep)));
    Put(Make(Op::kAddi, table, table, 0, 4));
    Put(Make(Op::kAddi, count, count, 0, -1));
    Put(Make(Op::kBlt, 0, 0, count, loop_start_));
  }

  void PutRows(Op op, int reg, const LanePlaces::Stream& stream) {
    walks_[stream.walk] = true;
    Put(Make(op, reg, Argument(stream.walk), Argument(kStrides + stream.walk),
             static_cast<int32_t>(stream.at)));
  }

  void FindUses() {
    for (int i = 0; i < static_cast<int>(steps_.size()); ++i) {
      const LaneStep& step = steps_[i];
      if (step.store >= 0) {
        uses_[step.lane].push_back(i);
        continue;
      }
      for (const Lane source : SourcesOf(graph_.node(step.lane))) {
        if (source >= 0) uses_[source].push_back(i);
      }
    }
  }

  // The next step, from `now_` on, that needs the value.
  int NextUse(Lane lane) {
    const std::vector<int>& uses = uses_[lane];
    size_t& at = next_[lane];
    while (at < uses.size() && uses[at] < now_) ++at;
    return at < uses.size() ? uses[at] : kNever;
  }
  // Whether this is the last step that needs the value.
  bool Ends(Lane lane) const {
    return uses_[lane].empty() || uses_[lane].back() <= now_;
  }

  bool IsPinned(int reg) const {
    return std::find(pinned_.begin(), pinned_.end(), reg) != pinned_.end();
  }

  // A free register of the bank, round robin; -1 if there is none.
  int Free(const Bank& bank) {
    const int count = bank.end - bank.first;
    int& turn = turns_[bank.first / 16];
    for (int i = 0; i < count; ++i) {
      // Neighbouring turns use different units.
      const int at = (turn + i) % count;
      const int reg = bank.first + (count == 16 ? at % 2 * 8 + at / 2 : at);
      if (held_[reg] >= 0 || IsPinned(reg)) continue;
      turn = (at + 1) % count;
      return reg;
    }
    return -1;
  }

  // The register of the bank whose value is needed last.
  int Farthest(const Bank& bank) {
    int best = -1, when = -1;
    for (int reg = bank.first; reg < bank.end; ++reg) {
      if (IsPinned(reg) || held_[reg] < 0) continue;
      const int use = NextUse(held_[reg]);
      if (use > when) {
        when = use;
        best = reg;
      }
    }
    return best;
  }

  void Release(int reg) {
    if (held_[reg] >= 0) place_[held_[reg]] = -1;
    held_[reg] = -1;
  }
  void Hold(int reg, Lane lane) {
    held_[reg] = lane;
    place_[lane] = reg;
  }

  absl::StatusOr<int> LoadRegister() {
    int reg = Free(kLoads);
    if (reg >= 0) return reg;
    reg = Farthest(kLoads);
    if (reg < 0) return absl::ResourceExhaustedError("registers of loads");
    Release(reg);
    return reg;
  }

  // A register for a result; a value may move to the other bank.
  absl::StatusOr<int> ResultRegister(bool function) {
    const Bank& bank = function ? kCross : kAlus;
    const int reg = Free(bank);
    if (reg >= 0) return reg;
    const int from = Farthest(bank);
    const int to = Free(function ? kAlus : kCross);
    if (from < 0 || to < 0)
      return absl::ResourceExhaustedError("registers of results");
    const Lane moved = held_[from];
    if (function) {
      Put(Make(Op::kIor, to, from, from));
    } else {
      Put(Make(Op::kMov, to, from));
    }
    Release(from);
    Hold(to, moved);
    return from;
  }

  // The register of a value; loads the value if necessary.
  absl::StatusOr<int> Register(Lane lane) {
    if (place_[lane] >= 0) return place_[lane];
    const LaneLoad& load = graph_.node(lane).load;
    const absl::StatusOr<int> reg = LoadRegister();
    if (!reg.ok()) return reg;
    const LanePlaces::Operand& place = places_.operands[load.operand];
    if (load.pattern == Pattern::kSplat) {
      Put(Make(Op::kLd32, *reg, 0, 0, static_cast<int32_t>(place.row)));
    } else {
      PutRows(kLoadOps[static_cast<int>(load.storage)], *reg, place.stream);
    }
    Hold(*reg, lane);
    return *reg;
  }

  // The scalar register of a constant.
  int Scalar(uint32_t bits) {
    if (bits == 0) return 0;
    int oldest = -1;
    for (int i = 0; i < kConstants; ++i) {
      if (scalars_[i].used >= 0 && scalars_[i].bits == bits) {
        scalars_[i].used = ++clock_;
        pinned_scalars_.push_back(i);
        return kFirstConstant + i;
      }
      const bool pinned =
          std::find(pinned_scalars_.begin(), pinned_scalars_.end(), i) !=
          pinned_scalars_.end();
      if (!pinned && (oldest < 0 || scalars_[i].used < scalars_[oldest].used))
        oldest = i;
    }
    scalars_[oldest] = {bits, ++clock_};
    pinned_scalars_.push_back(oldest);
    Put(Make(Op::kLi, kFirstConstant + oldest, 0, 0,
             static_cast<int32_t>(bits)));
    return kFirstConstant + oldest;
  }

  absl::Status Compute(Lane lane) {
    const LaneNode& node = graph_.node(lane);
    Instr x = Make(node.op, 0);  // lane 0 of the bcl
    const std::array<Lane, 3> sources = SourcesOf(node);
    uint8_t* const registers[] = {&x.a, &x.b, &x.c};
    uint8_t* const modes[] = {&x.am, &x.bm, &x.cm};
    for (int i = 0; i < 3; ++i) {
      if (sources[i] < 0) continue;
      const LaneNode& source = graph_.node(sources[i]);
      if (source.kind == LaneNode::Kind::kConstant) {
        *registers[i] = static_cast<uint8_t>(Scalar(source.bits));
        *modes[i] = static_cast<uint8_t>(vpu::Mode::kScalar);
        continue;
      }
      const absl::StatusOr<int> reg = Register(sources[i]);
      if (!reg.ok()) return reg.status();
      pinned_.push_back(*reg);
      *registers[i] = static_cast<uint8_t>(*reg);
    }
    // The register of a value that ends here may take the result.
    for (int i = 0; i < 3; ++i) {
      if (sources[i] >= 0 && place_[sources[i]] >= 0 && Ends(sources[i])) {
        const int reg = place_[sources[i]];
        Release(reg);
        pinned_.erase(std::remove(pinned_.begin(), pinned_.end(), reg),
                      pinned_.end());
      }
    }
    const absl::StatusOr<int> reg = ResultRegister(IsCross(node.op));
    if (!reg.ok()) return reg.status();
    x.d = static_cast<uint8_t>(*reg);
    Put(x);
    Hold(*reg, lane);
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
    PutRows(
        store.bits ? Op::kSt16h : kStoreOps[static_cast<int>(store.storage)],
        from, places_.stores[step.store]);
    if (Ends(step.lane) && place_[step.lane] >= 0) Release(place_[step.lane]);
    return absl::OkStatus();
  }

  // Copies each splat's element to all lanes of its row.
  void Spread() {
    std::vector<const LaneLoad*> splats;
    for (Lane lane = 0; lane < graph_.size(); ++lane) {
      const LaneNode& node = graph_.node(lane);
      if (node.kind == LaneNode::Kind::kLoad &&
          node.load.pattern == Pattern::kSplat)
        splats.push_back(&node.load);
    }
    if (splats.empty()) return;
    code_.spread = Next();
    Put(Make(Op::kLi, 1, 0, 0, 1));
    Put(Make(Op::kLi, 2, 0, 0, cols_));
    Put(Make(Op::kVl, 0, 1));
    int turn = 0;
    for (const LaneLoad* load : splats) {
      const LanePlaces::Operand& place = places_.operands[load->operand];
      const int loaded = kLoads.first + turn % 16,
                all = kCross.first + turn % 8;
      ++turn;
      Put(Make(Op::kLanes, 0, 1));
      Put(Make(kLoadOps[static_cast<int>(load->storage)], loaded, 0, 0,
               static_cast<int32_t>(place.element)));
      Put(Make(Op::kBcl, all, loaded));
      Put(Make(Op::kLanes, 0, 2));
      Put(Make(Op::kSt32, all, 0, 0, static_cast<int32_t>(place.row)));
    }
    Put(Make(Op::kHalt, 0));
  }

  static constexpr int kConstants = vpu::kScalarRegs - kFirstConstant;
  struct Held {
    uint32_t bits = 0;
    int used = -1;
  };

  const LaneGraph& graph_;
  const std::vector<LaneStore>& stores_;
  const LanePlaces& places_;
  const int base_;
  const Loop loop_;
  int loop_start_ = 0;  // first instruction
  const int32_t cols_;
  LaneCode code_;
  std::vector<LaneStep> steps_;
  int now_ = 0;
  std::vector<std::vector<int>> uses_;  // steps that need each value
  std::vector<size_t> next_;            // next entry of uses_
  std::vector<int> place_;              // register of a value, or -1
  std::array<Lane, vpu::kVectorRegs> held_ = [] {
    std::array<Lane, vpu::kVectorRegs> none;
    none.fill(-1);
    return none;
  }();
  std::array<int, 3> turns_ = {};
  std::array<bool, kWalks> walks_ = {};       // walks in use
  std::vector<int> pinned_, pinned_scalars_;  // by this step
  std::array<Held, kConstants> scalars_;
  int clock_ = 0;
};

}  // namespace

absl::StatusOr<LaneCode> Emit(const LaneGraph& graph,
                              const std::vector<LaneStore>& stores,
                              const LanePlaces& places, const Preset& preset,
                              int base, Loop loop) {
  return Emitter(graph, stores, places, preset, base, loop).Run();
}

}  // namespace systole::lanes
