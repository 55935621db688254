// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/gradient_code.h"

#include <algorithm>
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

class GradientEmitter {
 public:
  GradientEmitter(const GradientTile& tile, const Preset& preset, int base,
                  int ahead)
      : tile_(tile),
        preset_(preset),
        base_(base),
        ahead_(ahead),
        timing_(preset, static_cast<int>(tile.rows)),
        registers_(ValuesOf(tile)) {}

  absl::StatusOr<GradientCode> Run() {
    Put(Make(Op::kLanes, 0, kLanes));
    Constant(kRowIn, tile_.row_in);
    Constant(kRowGradient, tile_.row_gradient);
    Constant(kRowSum, tile_.row_sum);
    Constant(kLeft, tile_.rows);
    Put(Make(Op::kVl, 0, kLeft));
    if (absl::Status s = LoadSums(); !s.ok()) return s;
    const int position = Next();
    Put(Make(Op::kAddi, kLeft, kIterations));
    const int iteration = Next();
    if (absl::Status s = Iteration(); !s.ok()) return s;
    Advance(kIn, tile_.images * tile_.image_in);
    Advance(kGradient, tile_.images * tile_.image_gradient);
    Repeat(kLeft, iteration);
    const int end = Next();
    Put(Make(Op::kAdd, kIn, kIn, kNextIn));
    Put(Make(Op::kAdd, kGradient, kGradient, kNextGradient));
    Repeat(kPositions, position);
    StoreSums();
    Put(Make(Op::kHalt, 0));
    if (Next() > vpu::kImemWords)
      return absl::ResourceExhaustedError(
          "the instruction memory is too small");
    const auto first = code_.words.begin() - base_;
    code_.iteration_cycles =
        IterationCycles({first + iteration, first + end}, tile_.rows, preset_);
    constexpr int64_t kLatency = 40;  // of the first loads and the last sums
    code_.run_cycles = kLatency + 2 * Chains() * tile_.rows;
    return std::move(code_);
  }

 private:
  // Scalar registers: those of the arguments, then what is left and strides.
  static constexpr int kIn = 1, kGradient = 2, kSums = 3, kPositions = 4,
                       kIterations = 5, kLanes = 6, kNextIn = 7,
                       kNextGradient = 8, kLeft = 9, kRowIn = 10,
                       kRowGradient = 11, kRowSum = 12;

  static int ValuesOf(const GradientTile& tile) {
    return static_cast<int>(tile.images * tile.turns) * (1 + SumsOf(tile));
  }
  static int SumsOf(const GradientTile& tile) {
    return static_cast<int>(tile.sums.size());
  }
  int Chains() const { return static_cast<int>(tile_.turns) * SumsOf(tile_); }

  void Put(const Instr& x) {
    code_.words.push_back(x.Encode());
    timing_.Run(x);
  }
  int Next() const { return base_ + static_cast<int>(code_.words.size()); }
  void Constant(int reg, int64_t value) {
    Put(Make(Op::kLi, reg, 0, 0, static_cast<int32_t>(value)));
  }
  void Advance(int reg, int64_t bytes) {
    Put(Make(Op::kAddi, reg, reg, 0, static_cast<int32_t>(bytes)));
  }
  void Repeat(int counter, int start) {
    Put(Make(Op::kAddi, counter, counter, 0, -1));
    Put(Make(Op::kBlt, 0, 0, counter, start));
  }

  // A chain has two registers where there are as many, which take turns: a
  // writer waits for those who read its register before.
  static constexpr int kResults = 2 * vpu::kBankRegs;  // of the ALUs
  static int ResultRegister(int i) {
    return (static_cast<int>(vpu::Bank::kAlu0) + i % 2) * vpu::kBankRegs +
           i / 2;
  }
  int SumRegister(int chain, int64_t step) const {
    const int second = Chains() + chain;
    return ResultRegister(step % 2 == 0 || second >= kResults ? chain : second);
  }

  int64_t PlaceOfSum(int chain) const {
    return chain / SumsOf(tile_) * tile_.turn_sum +
           tile_.sums[chain % SumsOf(tile_)].at;
  }
  absl::Status LoadSums() {
    if (Chains() > kResults) return absl::ResourceExhaustedError("registers");
    for (int chain = 0; chain < Chains(); ++chain) {
      const int loaded = chain % 2 * vpu::kBankRegs + chain / 2;
      Put(Make(Op::kLd32, loaded, kSums, kRowSum,
               static_cast<int32_t>(PlaceOfSum(chain))));
      Put(Make(Op::kIor, SumRegister(chain, 0), loaded, loaded));
    }
    return absl::OkStatus();
  }
  void StoreSums() {
    for (int chain = 0; chain < Chains(); ++chain) {
      Put(Make(Op::kSt32, SumRegister(chain, 0), kSums, kRowSum,
               static_cast<int32_t>(PlaceOfSum(chain))));
    }
  }

  // A step of all chains of a turn needs a gradient and the inputs that it
  // meets; these values are loaded in their order, ahead of what needs them
  // while there are registers.
  absl::Status Iteration() {
    const int inputs = SumsOf(tile_), steps = ValuesOf(tile_) / (1 + inputs);
    for (int step = 0; step < steps; ++step) {
      const int gradient = step * (1 + inputs);
      for (int sum = 0; sum < inputs; ++sum) {
        const int input = gradient + 1 + sum;
        while (loaded_ <= input) {
          if (!Load()) return absl::ResourceExhaustedError("registers");
        }
        Add(step, sum, registers_.Of(gradient), registers_.Of(input));
        registers_.Release(registers_.Of(input));
        if (sum + 1 == inputs) registers_.Release(registers_.Of(gradient));
        while (loaded_ <= input + ahead_ && loaded_ < ValuesOf(tile_) &&
               Load()) {
        }
      }
    }
    return absl::OkStatus();
  }

  // Loads the next value into the free register that is ready first, if there
  // is one.
  bool Load() {
    const int reg = registers_.FreeWith(LaneRegisters::kLoads, [this](int r) {
      const int64_t now = timing_.now();
      return std::max<int64_t>(0, timing_.ReadyAt(r) - now) +
             std::max<int64_t>(0, timing_.FreeAt(r) - now);
    });
    if (reg < 0) return false;
    const int step = loaded_ / (1 + SumsOf(tile_)),
              value = loaded_ % (1 + SumsOf(tile_));
    const int64_t image = step / tile_.turns, turn = step % tile_.turns;
    const int64_t at =
        value == 0 ? image * tile_.image_gradient + turn * tile_.turn_gradient
                   : image * tile_.image_in + turn * tile_.turn_in +
                         tile_.sums[value - 1].in;
    Put(Make(Op::kLd16, reg, value == 0 ? kGradient : kIn,
             value == 0 ? kRowGradient : kRowIn, static_cast<int32_t>(at)));
    registers_.Hold(reg, loaded_++);
    return true;
  }

  void Add(int step, int sum, int gradient, int input) {
    const int64_t image = step / tile_.turns;
    const int chain =
        static_cast<int>(step % tile_.turns) * SumsOf(tile_) + sum;
    // The last of an odd number of steps stays in its register.
    const bool stays = image + 1 == tile_.images && tile_.images % 2 != 0;
    Instr x = Make(Op::kFma, SumRegister(chain, stays ? image : image + 1),
                   input, gradient);
    x.c = static_cast<uint8_t>(SumRegister(chain, image));
    Put(x);
  }

  const GradientTile& tile_;
  const Preset& preset_;
  const int base_;
  const int ahead_;  // values
  LaneTiming timing_;
  LaneRegisters registers_;
  int loaded_ = 0;  // values
  GradientCode code_;
};

}  // namespace

std::vector<int64_t> GradientRun::Arguments() const {
  return {in,         gradient, sum,     positions,
          iterations, lanes,    next_in, next_gradient};
}

absl::StatusOr<GradientCode> EmitGradient(const GradientTile& tile,
                                          const Preset& preset, int base) {
  absl::StatusOr<GradientCode> best = absl::ResourceExhaustedError("registers");
  for (const int ahead : {2, 4, 6, 8, 10}) {
    absl::StatusOr<GradientCode> code =
        GradientEmitter(tile, preset, base, ahead).Run();
    if (!best.ok() ||
        (code.ok() && code->iteration_cycles < best->iteration_cycles))
      best = std::move(code);
  }
  return best;
}

}  // namespace systole::lanes
