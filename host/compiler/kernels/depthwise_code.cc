// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/depthwise_code.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "host/compiler/kernels/lane_cost.h"
#include "host/compiler/kernels/lane_instructions.h"
#include "host/compiler/kernels/lane_registers.h"
#include "host/compiler/kernels/lane_timing.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

using vpu::Instr;
using vpu::Op;

// fma of an element with the weights of a tap, to the sum of an output.
struct DepthwiseTerm {
  int output, element, weights;
};

class DepthwiseEmitter {
 public:
  DepthwiseEmitter(const DepthwiseTile& tile, int64_t rows,
                   const Preset& preset, int base)
      : tile_(tile),
        rows_(rows),
        preset_(preset),
        base_(base),
        timing_(preset, static_cast<int>(rows)) {}

  absl::StatusOr<DepthwiseCode> Run() {
    ListTerms();
    if (static_cast<int64_t>(terms_.size()) > kMostWords) return TooLong();
    Put(Make(Op::kLanes, 0, Argument(kDepthwiseLanes)));
    Constant(kRowIn, tile_.row_in);
    Constant(kRowOut, tile_.row_out);
    const int in = Argument(kDepthwiseIn), out = Argument(kDepthwiseOut);
    const int chunk = Next();
    Put(Make(Op::kAddi, kChunkIn, in));
    Put(Make(Op::kAddi, kChunkOut, out));
    Put(Make(Op::kAddi, kTimesLeft, Argument(kDepthwiseTimes)));
    HoldWeights();
    Put(Make(Op::kVl, 0, Argument(kDepthwiseRows)));
    const int times = Next();
    Put(Make(Op::kAddi, kTilesLeft, Argument(kDepthwiseTiles)));
    const int body = Next();
    if (absl::Status s = Terms(); !s.ok()) return s;
    Advance(in, in, tile_.tile_in);
    Advance(out, out, tile_.tile_out);
    Repeat(kTilesLeft, body);
    const int end = Next();
    Put(Make(Op::kAdd, in, in, Argument(kDepthwiseNextIn)));
    Put(Make(Op::kAdd, out, out, Argument(kDepthwiseNextOut)));
    Repeat(kTimesLeft, times);
    const int behind = Next();
    Advance(in, kChunkIn, tile_.chunk_in);
    Advance(out, kChunkOut, tile_.chunk_out);
    const int weights = Argument(kDepthwiseWeights);
    Advance(weights, weights, tile_.chunk_weights);
    Repeat(Argument(kDepthwiseChunks), chunk);
    Put(Make(Op::kHalt, 0));
    if (Next() > kMostWords) return TooLong();
    const auto cycles = [&](int from, int to) {
      const auto first = code_.words.begin() - base_;
      return static_cast<int64_t>(
          IterationCycles({first + from, first + to}, rows_, preset_));
    };
    code_.tile_cycles = cycles(body, end);
    code_.times_cycles = body - times + behind - end;
    code_.chunk_cycles = std::max<int64_t>(
        0, cycles(chunk, Next() - 1) - code_.tile_cycles - code_.times_cycles);
    return std::move(code_);
  }

 private:
  // Scalar registers: argument i is s(i + 1), of which the lanes are needed
  // only once; copies of the first two; what is left; strides.
  static constexpr int Argument(DepthwiseArgument a) { return 1 + a; }
  static constexpr int kRowIn = 1 + kDepthwiseLanes, kChunkIn = 11,
                       kChunkOut = 12, kTilesLeft = 13, kTimesLeft = 14,
                       kRowOut = 15;
  static constexpr int kMostHeld = 2;  // weights in registers of loads
  // Registers of results that stay free for what is not loaded ahead.
  static constexpr int kRoundRegisters = 4;
  // The kernel has other code too.
  static constexpr int kMostWords = vpu::kImemWords - 384;
  static constexpr int kNever = std::numeric_limits<int>::max();

  static absl::Status TooLong() {
    return absl::ResourceExhaustedError("the instruction memory is too small");
  }

  void Put(const Instr& x) {
    code_.words.push_back(x.Encode());
    timing_.Run(x);
  }
  int Next() const { return base_ + static_cast<int>(code_.words.size()); }
  void Constant(int reg, int64_t value) {
    Put(Make(Op::kLi, reg, 0, 0, static_cast<int32_t>(value)));
  }
  void Advance(int reg, int from, int64_t bytes) {
    Put(Make(Op::kAddi, reg, from, 0, static_cast<int32_t>(bytes)));
  }
  void Repeat(int counter, int start) {
    Put(Make(Op::kAddi, counter, counter, 0, -1));
    Put(Make(Op::kBlt, 0, 0, counter, start));
  }

  int ElementOf(int64_t at) {
    const auto [found, added] =
        element_of_.try_emplace(at, static_cast<int>(elements_.size()));
    if (added) elements_.push_back(at);
    return found->second;
  }

  // Each output's terms in the order of the taps.
  void ListTerms() {
    for (const auto& [left, right] : tile_.passes) {
      for (size_t o = 0; o < tile_.outer.size(); ++o) {
        const int64_t tap = right * tile_.taps() + static_cast<int64_t>(o) *
                                                       tile_.axes[0].taps *
                                                       tile_.axes[1].taps;
        ListTerms(left * tile_.part + tile_.outer[o], tap);
      }
    }
    uses_.resize(Id(Sum(0)) + tile_.outputs());
    left_.assign(tile_.outputs(), 0);
    for (int i = 0; i < static_cast<int>(terms_.size()); ++i) {
      uses_[Id(Element(terms_[i].element))].push_back(i);
      uses_[Id(Weights(terms_[i].weights))].push_back(i);
      ++left_[terms_[i].output];
    }
    next_.assign(uses_.size(), 0);
  }
  void ListTerms(int64_t outer, int64_t first_tap) {
    const DepthwiseTile::Axis &a = tile_.axes[0], &b = tile_.axes[1];
    using Pair = std::pair<int64_t, int64_t>;  // output, tap
    const auto by_place = [](const DepthwiseTile::Axis& axis) {
      std::map<int64_t, std::vector<Pair>> places;
      for (int64_t o = 0; o < axis.outputs; ++o) {
        for (int64_t t = 0; t < axis.taps; ++t)
          places[o * axis.window + t * axis.tap].emplace_back(o, t);
      }
      return places;
    };
    const auto add = [&](int64_t line, const Pair& m, const Pair& n) {
      const int64_t at = outer + line + n.first * b.window + n.second * b.tap;
      terms_.push_back(
          {static_cast<int>(m.first * b.outputs + n.first), ElementOf(at),
           static_cast<int>(first_tap + m.second * b.taps + n.second)});
      weights_ = std::max(weights_, terms_.back().weights + 1);
    };
    const auto inner = by_place(b);
    for (const auto& [line, pairs] : by_place(a)) {
      if (tile_.by_element) {
        for (const auto& [place, others] : inner) {
          for (const Pair& n : others)
            for (const Pair& m : pairs) add(line, m, n);
        }
        continue;
      }
      for (int64_t t = 0; t < b.taps; ++t) {
        for (const Pair& m : pairs)
          for (int64_t o = 0; o < b.outputs; ++o) add(line, m, {o, t});
      }
    }
  }

  // Values that registers hold: weights, elements, sums.
  int Weights(int i) const { return i; }
  int Element(int i) const { return weights_ + i; }
  int Sum(int i) const {
    return weights_ + static_cast<int>(elements_.size()) + i;
  }
  static int Id(int value) { return value; }

  int NextUse(int value) {
    if (held_.count(value) > 0 || value >= Sum(0)) return -1;  // stays
    const std::vector<int>& uses = uses_[value];
    size_t& at = next_[value];
    while (at < uses.size() && uses[at] < now_) ++at;
    return at < uses.size() ? uses[at] : kNever;
  }
  void ReleaseUnused() {
    for (int reg = 0; reg < vpu::kVectorRegs; ++reg) {
      const int value = registers_.HeldBy(reg);
      if (value >= 0 && NextUse(value) == kNever) registers_.Release(reg);
    }
  }

  // A free register, or that of the value that is needed last.
  absl::StatusOr<int> Register(LaneRegisters::Bank bank) {
    const int free = registers_.FreeWith(bank, [this](int reg) {
      // A writer that waits for its register delays all instructions behind it.
      const int64_t now = timing_.now();
      return std::max<int64_t>(0, timing_.ReadyAt(reg) - now) +
             std::max<int64_t>(0, timing_.FreeAt(reg) - now);
    });
    if (free >= 0) return free;
    const int reg =
        registers_.Farthest(bank, [this](int v) { return NextUse(v); });
    if (reg < 0) return absl::ResourceExhaustedError("registers");
    registers_.Release(reg);
    return reg;
  }
  bool HasRoom(LaneRegisters::Bank bank) { return registers_.Free(bank) >= 0; }

  // Weights that stay for all tiles: moved to the cross unit's registers, and a
  // few more where these are all.
  void HoldWeights() {
    registers_ = LaneRegisters(static_cast<int>(uses_.size()));
    if (!tile_.holds) return;
    const int moved = std::min(weights_, vpu::kBankRegs);
    const int held = weights_ <= moved + kMostHeld ? weights_ : moved;
    Put(Make(Op::kVl, 0, Argument(kDepthwiseRows), 0, 1));
    for (int i = 0; i < held; ++i) {
      const int place = LoadedAt(i);
      PutLoad(Op::kLd16, place, Argument(kDepthwiseWeights), 0,
              i * tile_.weights_line);
      held_.insert(Weights(i));
      if (i >= moved) registers_.Hold(place, Weights(i));
    }
    constexpr int kCross = vpu::kBankRegs * static_cast<int>(vpu::Bank::kX);
    for (int i = 0; i < moved; ++i) {
      Put(Make(Op::kMov, kCross + i, LoadedAt(i)));
      registers_.Hold(kCross + i, Weights(i));
    }
  }
  // Both load units in turns.
  static int LoadedAt(int i) { return i % 2 * vpu::kBankRegs + i / 2; }

  void PutLoad(Op op, int reg, int address, int stride, int64_t offset) {
    Put(Make(op, reg, address, stride, static_cast<int32_t>(offset)));
  }

  absl::Status LoadWeights(int weights) {
    const absl::StatusOr<int> reg = Register(LaneRegisters::kLoads);
    if (!reg.ok()) return reg.status();
    Put(Make(Op::kVl, 0, Argument(kDepthwiseRows), 0, 1));
    PutLoad(Op::kLd16, *reg, Argument(kDepthwiseWeights), 0,
            weights * tile_.weights_line);
    Put(Make(Op::kVl, 0, Argument(kDepthwiseRows)));
    registers_.Hold(*reg, Weights(weights));
    return absl::OkStatus();
  }

  absl::Status LoadElement(int element) {
    const absl::StatusOr<int> reg = Register(LaneRegisters::kLoads);
    if (!reg.ok()) return reg.status();
    const bool half = tile_.input == Storage::kHalf;
    PutLoad(half ? Op::kLd16 : Op::kLd32, *reg, Argument(kDepthwiseIn), kRowIn,
            elements_[element]);
    registers_.Hold(*reg, Element(element));
    ++code_.loads;
    return half ? absl::OkStatus() : Round(*reg, element);
  }

  // The first part of a loaded number, in a register of the ALUs.
  absl::Status Round(int loaded, int element) {
    registers_.Pin(loaded);
    const absl::StatusOr<int> reg = Register(LaneRegisters::kAlus);
    if (!reg.ok()) return reg.status();
    Put(Make(Op::kBf16, *reg, loaded));
    registers_.Release(loaded);
    registers_.Hold(*reg, Element(element));
    return absl::OkStatus();
  }

  absl::Status Terms() {
    for (now_ = 0; now_ < static_cast<int>(terms_.size()); ++now_) {
      ReleaseUnused();
      registers_.Unpin();
      const DepthwiseTerm& term = terms_[now_];
      for (const int value : {Element(term.element), Weights(term.weights)}) {
        if (registers_.Of(value) < 0) {
          const absl::Status s = value < weights_ ? LoadWeights(term.weights)
                                                  : LoadElement(term.element);
          if (!s.ok()) return s;
        }
        registers_.Pin(registers_.Of(value));
      }
      if (absl::Status s = LoadAhead(); !s.ok()) return s;
      if (absl::Status s = Add(term); !s.ok()) return s;
      if (Next() > kMostWords) return TooLong();
    }
    return absl::OkStatus();
  }

  // What the next terms need, while there are registers.
  absl::Status LoadAhead() {
    const bool rounds = tile_.input != Storage::kHalf;
    for (int i = 1; i <= tile_.ahead; ++i) {
      const int at = now_ + i;
      if (at >= static_cast<int>(terms_.size())) break;
      const DepthwiseTerm& term = terms_[at];
      const bool room = HasRoom(LaneRegisters::kLoads) &&
                        (!rounds || FreeResults() > kRoundRegisters);
      if (!room) break;
      absl::Status s;
      if (registers_.Of(Element(term.element)) < 0)
        s = LoadElement(term.element);
      if (s.ok() && registers_.Of(Weights(term.weights)) < 0 &&
          HasRoom(LaneRegisters::kLoads))
        s = LoadWeights(term.weights);
      if (!s.ok()) return s;
    }
    return absl::OkStatus();
  }
  int FreeResults() const {
    int free = 0;
    for (int reg = 2 * vpu::kBankRegs; reg < 4 * vpu::kBankRegs; ++reg)
      free += registers_.HeldBy(reg) == -1 ? 1 : 0;
    return free;
  }

  absl::Status Add(const DepthwiseTerm& term) {
    const int sum = Sum(term.output), old = registers_.Of(sum);
    Instr x = Make(Op::kFma, 0, registers_.Of(Element(term.element)),
                   registers_.Of(Weights(term.weights)));
    x.bm = static_cast<uint8_t>(vpu::Mode::kRow0);
    x.c = static_cast<uint8_t>(std::max(old, 0));
    // A chain begins with s0, which is 0.
    if (old < 0) x.cm = static_cast<uint8_t>(vpu::Mode::kScalar);
    if (old >= 0) registers_.Release(old);
    absl::StatusOr<int> reg = Register(LaneRegisters::kAlus);
    if (!reg.ok()) return reg.status();
    x.d = static_cast<uint8_t>(*reg);
    Put(x);
    registers_.Hold(*reg, sum);
    if (--left_[term.output] > 0) return absl::OkStatus();
    // The sections' sum, from +0.
    const int last = *reg;
    registers_.Release(last);
    reg = Register(LaneRegisters::kAlus);
    if (!reg.ok()) return reg.status();
    Instr zero = Make(Op::kFadd, *reg, last);
    zero.bm = static_cast<uint8_t>(vpu::Mode::kScalar);
    Put(zero);
    const int64_t inner = tile_.axes[1].outputs;
    const int64_t at = term.output / inner * tile_.axes[0].out +
                       term.output % inner * tile_.axes[1].out;
    PutLoad(tile_.result == Storage::kHalf ? Op::kSt16 : Op::kSt32, *reg,
            Argument(kDepthwiseOut), kRowOut, at);
    registers_.Release(*reg);
    return absl::OkStatus();
  }

  const DepthwiseTile& tile_;
  const int64_t rows_;
  const Preset& preset_;
  const int base_;
  DepthwiseCode code_;
  std::vector<DepthwiseTerm> terms_;
  int weights_ = 0;
  std::vector<int64_t> elements_;  // places, in bytes
  std::map<int64_t, int> element_of_;
  std::vector<std::vector<int>> uses_;  // terms that need each value
  std::vector<size_t> next_;            // next entry of uses_
  std::vector<int> left_;               // terms of each output
  std::set<int> held_;
  int now_ = 0;
  LaneTiming timing_;
  LaneRegisters registers_{0};
};

}  // namespace

absl::StatusOr<DepthwiseCode> EmitDepthwise(const DepthwiseTile& tile,
                                            int64_t rows, const Preset& preset,
                                            int base) {
  return DepthwiseEmitter(tile, rows, preset, base).Run();
}

}  // namespace systole::lanes
