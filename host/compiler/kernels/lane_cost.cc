// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_cost.h"

#include <algorithm>
#include <array>

#include "host/compiler/kernels/lane_timing.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {

using vpu::Op;

double IterationCycles(const std::vector<uint64_t>& words, int64_t rows,
                       const Preset& preset, int before, int measured,
                       const LaneTiming::Strides& strides) {
  LaneTiming timing(preset, static_cast<int>(rows), strides);
  std::vector<LaneTiming::Step> steps;
  steps.reserve(words.size());
  for (const uint64_t word : words)
    steps.push_back(timing.StepOf(vpu::Instr::Decode(word)));
  int64_t start = 0;
  for (int i = 0; i < before + measured; ++i) {
    if (i == before) start = timing.now();
    for (const LaneTiming::Step& step : steps) timing.Run(step);
    timing.Branch();
  }
  return static_cast<double>(timing.now() - start) / measured;
}

double RowCycles(const std::vector<uint64_t>& words, size_t first, int groups,
                 const Preset& preset, const LaneTiming::Strides& strides) {
  const auto begin = words.begin() + static_cast<int64_t>(first);
  const int64_t rows = preset.vector_rows();
  return IterationCycles({begin, words.end()}, rows, preset, 4, 8, strides) /
         static_cast<double>(groups * rows);
}

int64_t RunCycles(const std::vector<uint64_t>& code, int pc,
                  const std::vector<int64_t>& arguments, const Preset& preset,
                  const LaneTiming::Strides& strides) {
  LaneTiming timing(preset, preset.vector_rows(), strides);
  std::array<int32_t, vpu::kScalarRegs> s{};
  for (size_t i = 0; i < arguments.size(); ++i)
    s[1 + i] = static_cast<int32_t>(arguments[i]);
  std::vector<LaneTiming::Step> steps(code.size());
  std::vector<bool> known(code.size());
  for (auto at = static_cast<size_t>(pc); at < code.size();) {
    const vpu::Instr x = vpu::Instr::Decode(code[at]);
    if (!known[at]) {
      steps[at] = timing.StepOf(x);
      known[at] = true;
    }
    LaneTiming::Step step = steps[at];
    const int32_t a = s[x.a], b = s[x.b];
    bool taken = false;
    switch (x.op) {
      case Op::kLi:
        s[x.d] = x.imm;
        break;
      case Op::kAdd:
        s[x.d] = a + b;
        break;
      case Op::kAddi:
        s[x.d] = a + x.imm;
        break;
      case Op::kSlli:
        s[x.d] = static_cast<int32_t>(static_cast<uint32_t>(a) << x.imm);
        break;
      case Op::kLds:
        s[x.d] = 0;
        break;
      case Op::kBeq:
        taken = a == b;
        break;
      case Op::kBlt:
        taken = a < b;
        break;
      case Op::kVl:  // of this many rows
        step.imm = x.imm > 0 ? std::min(a, x.imm) : a;
        break;
      default:
        break;
    }
    s[0] = 0;
    timing.Run(step);
    if (x.op == Op::kHalt) break;
    if (taken) timing.Branch();
    at = taken ? static_cast<size_t>(x.imm) : at + 1;
  }
  return timing.now();
}

}  // namespace systole::lanes
