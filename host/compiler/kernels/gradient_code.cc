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
  GradientEmitter(const GradientTile& tile, const Preset& preset, int base)
      : tile_(tile),
        preset_(preset),
        base_(base),
        timing_(preset, static_cast<int>(tile.rows)),
        registers_(ValuesOf(tile), LaneRegisters::kAll) {}

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

  // What a chain's step needs: a gradient and the inputs that it meets.
  struct Step {
    int64_t image, turn;
    int gradient;  // value; the inputs are those behind it
  };
  absl::Status Iteration() {
    std::vector<Step> steps;
    int value = 0;
    for (int64_t image = 0; image < tile_.images; ++image) {
      for (int64_t turn = 0; turn < tile_.turns; ++turn) {
        steps.push_back({image, turn, value});
        value += 1 + SumsOf(tile_);
      }
    }
    if (absl::Status s = LoadStep(steps[0]); !s.ok()) return s;
    for (size_t i = 0; i < steps.size(); ++i) {
      // Loads run ahead where there are registers.
      const bool ahead = 2 * (1 + SumsOf(tile_)) <= 2 * vpu::kBankRegs;
      if (ahead && i + 1 < steps.size()) {
        if (absl::Status s = LoadStep(steps[i + 1]); !s.ok()) return s;
      }
      Add(steps[i]);
      if (!ahead && i + 1 < steps.size()) {
        if (absl::Status s = LoadStep(steps[i + 1]); !s.ok()) return s;
      }
    }
    return absl::OkStatus();
  }

  absl::Status LoadStep(const Step& step) {
    const auto load = [&](int value, int address, int stride, int64_t at) {
      // The free register that is ready first.
      const int reg = registers_.FreeWith(LaneRegisters::kLoads, [this](int r) {
        const int64_t now = timing_.now();
        return std::max<int64_t>(0, timing_.ReadyAt(r) - now) +
               std::max<int64_t>(0, timing_.FreeAt(r) - now);
      });
      if (reg < 0) return absl::ResourceExhaustedError("registers");
      Put(Make(Op::kLd16, reg, address, stride, static_cast<int32_t>(at)));
      registers_.Hold(reg, value);
      return absl::OkStatus();
    };
    absl::Status s = load(
        step.gradient, kGradient, kRowGradient,
        step.image * tile_.image_gradient + step.turn * tile_.turn_gradient);
    const int64_t in = step.image * tile_.image_in + step.turn * tile_.turn_in;
    for (int sum = 0; s.ok() && sum < SumsOf(tile_); ++sum)
      s = load(step.gradient + 1 + sum, kIn, kRowIn, in + tile_.sums[sum].in);
    return s;
  }

  void Add(const Step& step) {
    for (int sum = 0; sum < SumsOf(tile_); ++sum) {
      const int chain = static_cast<int>(step.turn) * SumsOf(tile_) + sum;
      const int in = registers_.Of(step.gradient + 1 + sum);
      // The last of an odd number of steps stays in its register.
      const bool stays =
          step.image + 1 == tile_.images && tile_.images % 2 != 0;
      Instr x = Make(Op::kFma,
                     SumRegister(chain, stays ? step.image : step.image + 1),
                     in, registers_.Of(step.gradient));
      x.c = static_cast<uint8_t>(SumRegister(chain, step.image));
      Put(x);
      registers_.Release(in);
    }
    registers_.Release(registers_.Of(step.gradient));
  }

  const GradientTile& tile_;
  const Preset& preset_;
  const int base_;
  LaneTiming timing_;
  LaneRegisters registers_;
  GradientCode code_;
};

}  // namespace

std::vector<int64_t> GradientRun::Arguments() const {
  return {in,         gradient, sum,     positions,
          iterations, lanes,    next_in, next_gradient};
}

absl::StatusOr<GradientCode> EmitGradient(const GradientTile& tile,
                                          const Preset& preset, int base) {
  return GradientEmitter(tile, preset, base).Run();
}

}  // namespace systole::lanes
