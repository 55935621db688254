// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Products of bf16 as plans: the same text, memory planning and verifier as
// those of int8.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "host/compiler/pass_plan.h"
#include "host/compiler/passes/float_tiling.h"
#include "host/compiler/passes/memory_planning.h"
#include "systole/float_matmul.h"
#include "tests/compiler/plan_text.h"

namespace systole::compiler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kProduct[] = R"(plan @matmul on mini, batch=1, ub=131072 {
  %a = 40x1x24, bf16, input
  %c = 40x1x20, raw, output
  matmul: %c = conv2d(%a)
}
)";

std::string Planned() {
  return After<MemoryPlanning>(After<FloatTiling>(kProduct));
}

std::string ErrorOf(const std::string& text) {
  return std::string(Verify(Parsed(text)).message());
}

TEST(FloatPlan, IsTiledAndPlaced) {
  const Plan plan = Parsed(Planned());
  ASSERT_EQ(plan.buffers.size(), 3u);
  EXPECT_EQ(plan.buffers[0].name, "kernels");
  EXPECT_EQ(plan.buffers[0].at, 0);
  int64_t rows = 0;
  for (const Block& block : plan.layers[0].blocks) rows += block.ny;
  EXPECT_EQ(rows, 40);
  EXPECT_EQ(plan.HbmPitch(0) % FindPreset("mini")->beat_bytes(), 0);
  EXPECT_GE(plan.HbmPitch(0), 2 * 24);
  EXPECT_GE(plan.HbmPitch(1), 4 * 20);
}

TEST(FloatPlan, TheVerifierSeesFaults) {
  const std::string good = Planned();
  Plan plan = Parsed(good);
  EXPECT_EQ(Verify(plan), absl::OkStatus());
  plan.buffers[2].at = plan.buffers[1].at;
  EXPECT_THAT(std::string(Verify(plan).message()),
              HasSubstr("&1 (a (slots)) and &2 (c (slots)) overlap"));
  plan = Parsed(good);
  plan.layers[0].in[0].slot_bytes -= plan.layers[0].in[0].pitch;
  EXPECT_THAT(std::string(Verify(plan).message()), HasSubstr("in a slot of"));
  plan = Parsed(good);
  plan.layers[0].blocks.pop_back();
  EXPECT_THAT(std::string(Verify(plan).message()),
              HasSubstr("positions that no block has"));
  plan = Parsed(good);
  plan.tensors[1].hbm = plan.tensors[0].hbm;
  EXPECT_THAT(std::string(Verify(plan).message()), HasSubstr("overlap in HBM"));
  // A line of bf16 does not fit where one of int8 would.
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(good, {{"40x1x24,", "40x1x48,"}})),
              HasSubstr("in a slot of"));
}

TEST(FloatPlan, LinesThatDoNotFitAreRefused) {
  Plan plan = Parsed(absl::StrReplaceAll(kProduct, {{"x24", "x60000"}}));
  EXPECT_THAT(std::string(FloatTiling().Run(plan).status().message()),
              HasSubstr("a line of 60000 values of A"));
}

TEST(FloatPlan, TheCompilerShowsItsSteps) {
  FloatMatmulSpec spec;
  spec.m = 40;
  spec.k = 24;
  spec.n = 20;
  spec.b.assign(24 * 20, 0);
  spec.float32_result = true;
  std::vector<std::string> steps, texts;
  Options options;
  options.observer = [&](const std::string& step, const auto& text) {
    steps.push_back(step);
    texts.push_back(text());
  };
  const auto program = CompileFloatMatmul(spec, *FindPreset("mini"), options);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(steps, ElementsAre("plan", "float-tiling", "memory-planning",
                                 "descriptors", "dependence-analysis",
                                 "scheduling", "sync-flags"));
  EXPECT_EQ(texts[0], kProduct);
  EXPECT_EQ(texts[2], Planned());
  EXPECT_EQ(program->buffers.size(), 3u);
}

// One cutter for all: int8 by bytes, bf16 by two, as long as pieces fit.
TEST(Contraction, IsCutIntoWholePasses) {
  const std::vector<Segment> runs = {{0, 0, 10, 0, 0}, {1, -6, 10, 10, 0}};
  for (const int64_t bytes : {1, 2}) {
    const auto passes = CutContraction(runs, 8, 4, bytes);
    ASSERT_EQ(passes.size(), 3u);
    EXPECT_EQ(RowsOf(passes[0]), 8);
    ASSERT_EQ(passes[1].size(), 2u);
    EXPECT_EQ(passes[1][0].byte, 8 * bytes);
    EXPECT_EQ(passes[1][1].byte, -6);
    EXPECT_EQ(passes[1][1].weight, 10);
    EXPECT_EQ(passes[2][0].byte, -6 + 6 * bytes);
    EXPECT_EQ(RowsOf(passes[2]), 4);
  }
  EXPECT_EQ(CutContraction(runs, 32, 1, 1).size(), 2u);
  const auto closed = [](const std::vector<Segment>& pass,
                         const Segment& next) {
    return next.byte < pass[0].byte;
  };
  EXPECT_EQ(CutContraction(runs, 32, 4, 1).size(), 1u);
  EXPECT_EQ(CutContraction(runs, 32, 4, 1, closed).size(), 2u);
}

}  // namespace
}  // namespace systole::compiler
