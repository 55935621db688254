// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Orders of loops: units wait little, loads come early, what is the same for
// all rows is loaded once; and the cycles of a run. What the code computes is
// compared elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_cost.h"
#include "host/compiler/kernels/lane_groups.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

using vpu::Op;

// A graph of rows of lanes, walk 0, with a store to walk 1.
struct Rows {
  Rows(const Preset& of, int64_t line) : preset(of) {
    places.strides = {line, 4 * preset.cols, -1};
    places.stores = {{0, 1}};
  }
  Lane Load(int64_t at, Pattern pattern = Pattern::kStream) {
    places.operands.push_back({{at, 0}, 0, at});
    const auto operand = static_cast<int>(places.operands.size()) - 1;
    return graph.Load({operand, Storage::kWord, pattern});
  }
  // The code and the sum of a chain of `count` operations on a value.
  Lane Chain(Lane lane, int count) {
    for (int i = 0; i < count; ++i)
      lane = graph.Make(i % 2 == 0 ? Op::kFmul : Op::kFadd, lane, lane);
    return lane;
  }
  LaneCode Emitted(Lane result, RunRows rows) {
    const auto code = Emit(graph, {{result, Storage::kWord}}, places, preset, 0,
                           Loop::kRows, rows);
    EXPECT_TRUE(code.ok()) << code.status();
    return code.ok() ? *code : LaneCode();
  }

  const Preset& preset;
  LaneGraph graph;
  LanePlaces places;
};

std::vector<vpu::Instr> Decoded(const LaneCode& code) {
  std::vector<vpu::Instr> all;
  for (const uint64_t word : code.words)
    all.push_back(vpu::Instr::Decode(word));
  return all;
}
int64_t CountOf(const std::vector<vpu::Instr>& code, Op op) {
  return std::count_if(code.begin(), code.end(),
                       [&](const vpu::Instr& x) { return x.op == op; });
}

class ScheduleTest : public ::testing::TestWithParam<const char*> {
 protected:
  const Preset& preset_ = *FindPreset(GetParam());
  const int64_t word_ = preset_.word_bytes();
};

// Lines of four chunks, in one bank each: the ALUs hardly wait for the chains
// of their operations, for loads that wait for each other, or for stores.
TEST_P(ScheduleTest, TheBusiestUnitIsTheLimit) {
  for (const int length : {3, 8, 12}) {
    Rows rows(preset_, preset_.ub_banks * word_);
    Lane sum = -1;
    for (int chunk = 0; chunk < 4; ++chunk) {
      const Lane lane = rows.Chain(rows.Load(chunk * word_), length);
      sum = sum < 0 ? lane : rows.graph.Make(Op::kFadd, sum, lane);
    }
    const LaneCode code = rows.Emitted(sum, RunRows::kFours);
    const double alus = (4.0 * length + 3) / (2.0 * preset_.sublanes);
    const double loads = 2;  // a row of each chunk, two at a time
    EXPECT_LE(code.row_cycles, std::max(1.1 * alus, 1.25 * loads)) << length;
    EXPECT_GE(code.row_cycles, std::max(alus, loads)) << length;
  }
}

// The loads of the groups come before the results of the first one.
TEST_P(ScheduleTest, LoadsComeEarly) {
  Rows rows(preset_, word_);
  const LaneCode code =
      rows.Emitted(rows.Chain(rows.Load(0), 6), RunRows::kFours);
  const std::vector<vpu::Instr> all = Decoded(code);
  const auto first_store = std::find_if(
      all.begin(), all.end(), [](const auto& x) { return x.op == Op::kSt32; });
  EXPECT_EQ(CountOf(all, Op::kLd32), 4);
  EXPECT_GE(CountOf({all.begin(), first_store}, Op::kLd32), 2);
}

// A line for all lines, and an element for all: one row is loaded, and its
// readers take it for every row.
TEST_P(ScheduleTest, OneRowForAll) {
  Rows rows(preset_, word_);
  const Lane x = rows.Load(0);
  const Lane element = rows.Load(1 << 10, Pattern::kSplat);
  rows.places.operands.push_back({{1 << 11, kNoWalk}, 0, 0});
  const Lane line = rows.graph.Load({2, Storage::kWord, Pattern::kStream});
  const LaneCode code =
      rows.Emitted(rows.graph.Make(Op::kFma, x, element, line), RunRows::kMany);
  bool one = false;
  std::array<bool, vpu::kVectorRegs> of_one{};
  int read = 0;
  for (const vpu::Instr& x : Decoded(code)) {
    if (x.op == Op::kHalt) break;  // then the element is spread
    if (x.op == Op::kVl) one = x.imm == 1;
    if (x.op == Op::kLd32) {
      of_one[x.d] = one;
      EXPECT_EQ(one, x.b == 0) << "a walk has rows of its own";
    }
    if (x.op == Op::kSt32 || x.op == Op::kFma) EXPECT_FALSE(one);
    if (x.op != Op::kFma) continue;
    ++read;
    EXPECT_EQ(x.am == static_cast<int>(vpu::Mode::kRow0), of_one[x.a]);
    EXPECT_EQ(x.bm == static_cast<int>(vpu::Mode::kRow0), of_one[x.b]);
    EXPECT_EQ(x.cm == static_cast<int>(vpu::Mode::kRow0), of_one[x.c]);
    EXPECT_TRUE(of_one[x.b] && of_one[x.c]);
  }
  EXPECT_GT(read, 1);
}

// A run begins and ends, and each further group takes as long as the others.
TEST_P(ScheduleTest, CyclesOfRuns) {
  Rows rows(preset_, word_);
  const LaneCode code =
      rows.Emitted(rows.Chain(rows.Load(0), 12), RunRows::kMany);
  const auto cycles_of = [&](int64_t count) {
    return RunCycles(code.words, code.main,
                     {0, 1 << 16, 0, count, word_, word_, 0, preset_.cols},
                     preset_, StridesOf(rows.places));
  };
  const int64_t group = preset_.vector_rows();
  EXPECT_GT(cycles_of(1), 12 * 8);
  EXPECT_LT(cycles_of(1), 12 * 8 + 40);
  EXPECT_NEAR(
      static_cast<double>(cycles_of(64 * group) - cycles_of(32 * group)),
      code.row_cycles * 32 * static_cast<double>(group),
      0.02 * static_cast<double>(cycles_of(32 * group)));
}

// The two load units read at a time where their rows lie in other banks, or
// take turns in all banks; else one waits for the other.
TEST_P(ScheduleTest, LoadsOfABankWait) {
  const int64_t group = preset_.vector_rows();
  const auto cycles_of = [&](int64_t stride, int64_t distance) {
    LaneTiming::Strides strides = LaneTiming::NoStrides();
    strides[5] = stride;
    const auto load = [](int reg, int64_t at) {
      vpu::Instr x;
      x.op = Op::kLd32;
      x.am = x.bm = static_cast<uint8_t>(vpu::Mode::kScalar);
      x.d = static_cast<uint8_t>(reg);
      x.a = 1;
      x.b = 5;
      x.imm = static_cast<int32_t>(at);
      return x.Encode();
    };
    vpu::Instr halt;
    halt.op = Op::kHalt;
    return RunCycles({load(0, 0), load(8, distance), halt.Encode()}, 0, {},
                     preset_, strides);
  };
  const int64_t all = preset_.ub_banks * word_;
  const int64_t apart = cycles_of(all, word_);
  EXPECT_NEAR(static_cast<double>(cycles_of(all, 0) - apart),
              static_cast<double>(group), 2);
  EXPECT_EQ(cycles_of(all, all), cycles_of(all, 0));
  EXPECT_LE(cycles_of(word_, 0), apart + 2);
  EXPECT_LE(cycles_of(all + word_, 0), apart + 2);
  // A row that lies in two words, and rows of a few bytes.
  EXPECT_EQ(cycles_of(all, all - word_ / 2), cycles_of(all, 0));
  EXPECT_EQ(cycles_of(4, 0), cycles_of(all, 0));
}

INSTANTIATE_TEST_SUITE_P(Presets, ScheduleTest,
                         ::testing::Values("lite", "v2"));

}  // namespace
}  // namespace systole::lanes
