// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Orders of loops: loads come early, and what belongs together stays so.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "host/compiler/kernels/lane_cost.h"
#include "host/compiler/kernels/lane_schedule.h"
#include "host/program/vpu_asm.h"

namespace systole::lanes {
namespace {

constexpr int kLanes = 8;  // s8 has the number of lanes

std::vector<uint64_t> Words(const std::string& text) {
  const auto code = vpu::Assemble(text, "test");
  EXPECT_TRUE(code.ok()) << code.status();
  return code.ok() ? code->words : std::vector<uint64_t>();
}
// Where the instruction is, or -1.
int PlaceOf(const std::vector<uint64_t>& words, const std::string& text) {
  const auto at = std::find(words.begin(), words.end(), Words(text)[0]);
  return at == words.end() ? -1 : static_cast<int>(at - words.begin());
}

// Two loads, each with a chain of sums and a store.
constexpr char kChains[] = R"(
    ld32 v0, s1, s5
    fadd v16, v0, v0
    fadd v17, v16, v16
    fadd v18, v17, v17
    fadd v19, v18, v18
    st32 v19, s3, s7
    add s1, s1, s6
    ld32 v1, s1, s5
    fadd v24, v1, v1
    fadd v25, v24, v24
    fadd v26, v25, v25
    fadd v27, v26, v26
    st32 v27, s3, s7, 512
)";

TEST(ScheduleTest, LoadsComeBeforeWhatNeedNotWait) {
  const Preset& preset = *FindPreset("v2");
  const std::vector<uint64_t> given = Words(kChains);
  std::vector<uint64_t> words = given;
  Schedule(words, 0, kLanes, preset);
  EXPECT_TRUE(std::is_permutation(words.begin(), words.end(), given.begin(),
                                  given.end()));
  EXPECT_LT(PlaceOf(words, "ld32 v1, s1, s5"),
            PlaceOf(words, "fadd v17, v16, v16"));
  // The address comes with the load, and behind the load that has the old one.
  EXPECT_LT(PlaceOf(words, "ld32 v0, s1, s5"),
            PlaceOf(words, "add s1, s1, s6"));
  EXPECT_LT(PlaceOf(words, "add s1, s1, s6"),
            PlaceOf(words, "ld32 v1, s1, s5"));
  const int64_t rows = preset.vector_rows();
  EXPECT_LT(IterationCycles(words, rows, preset),
            IterationCycles(given, rows, preset));
}

// A register's readers, a place that is stored to, and the number of lanes.
TEST(ScheduleTest, WhatBelongsTogetherStays) {
  const Preset& preset = *FindPreset("v2");
  const auto chain = [](int first) {  // of sums, in eight registers
    std::string text;
    for (int i = 0; i < 14; ++i)
      text += absl::StrFormat("    fadd v%d, v%d, v%d\n", first + (i + 1) % 8,
                              first + i % 8, first + i % 8);
    return text;
  };
  const std::vector<uint64_t> given = Words(
      "    li s10, 1\n    lanes s10\n    ld32 v0, s2, s6\n    lanes s8\n"
      "    bcl v32, v0, s0\n    ld32 v1, s1, s5\n    fadd v16, v1, v32\n" +
      chain(16) +
      "    st32 v22, s1, s5\n    li s10, 1\n    lanes s10\n"
      "    ld32 v0, s2, s6, 4\n    lanes s8\n    bcl v33, v0, s0\n"
      "    ld32 v1, s1, s5, 512\n    fadd v16, v1, v33\n" +
      chain(16) + "    st32 v22, s1, s5, 512\n");
  std::vector<uint64_t> words = given;
  Schedule(words, 0, kLanes, preset);
  EXPECT_NE(words, given);
  const auto before = [&](const char* first, const char* second) {
    EXPECT_LT(PlaceOf(words, first), PlaceOf(words, second))
        << first << ", " << second;
  };
  before("bcl v32, v0, s0", "ld32 v0, s2, s6, 4");
  before("fadd v16, v1, v32", "ld32 v1, s1, s5, 512");
  before("ld32 v1, s1, s5, 512", "st32 v22, s1, s5");
  before("st32 v22, s1, s5", "st32 v22, s1, s5, 512");
  // Each load and store has the lanes that it had, and so has what follows.
  int lanes = kLanes;
  for (const uint64_t word : words) {
    const vpu::Instr x = vpu::Instr::Decode(word);
    if (x.op == vpu::Op::kLanes) lanes = x.a;
    if (x.op != vpu::Op::kLd32 && x.op != vpu::Op::kSt32) continue;
    const bool one = x.op == vpu::Op::kLd32 && x.d == 0;
    EXPECT_EQ(lanes, one ? 10 : kLanes) << vpu::Disassemble(word);
  }
  EXPECT_EQ(lanes, kLanes);
}

TEST(ScheduleTest, OtherControlStays) {
  const Preset& preset = *FindPreset("v2");
  for (const char* const control : {"fence", "lds s9, s2", "blt s0, s4, 0"}) {
    const std::vector<uint64_t> given =
        Words(std::string(kChains) + "    " + control + "\n");
    std::vector<uint64_t> words = given;
    Schedule(words, 0, kLanes, preset);
    EXPECT_EQ(words, given) << control;
  }
}

}  // namespace
}  // namespace systole::lanes
