// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The memory of a training step as a plan: the text and the verifier of all
// compilers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/compiler/plan.h"
#include "host/training/step_builder.h"

namespace systole::training {
namespace {

using testing::HasSubstr;

TEST(StepPlan, IsReadAsItIsPrinted) {
  const std::vector<Layer> layers = DigitsLayers();
  for (const char* preset : {"lite", "v2"}) {
    StepOptions options;
    options.batch = 4;
    StepBuilder builder(layers, options, *FindPreset(preset));
    const auto step = builder.Build();
    ASSERT_TRUE(step.ok()) << step.status();
    const compiler::Plan& plan = builder.plan();
    EXPECT_EQ(compiler::Verify(plan), absl::OkStatus());
    const std::string text = compiler::Print(plan);
    EXPECT_THAT(text, HasSubstr("%layer0.in = 4x1x784, bf16, input, in_hbm"));
    EXPECT_THAT(text, HasSubstr("\"conv2 weight gradient\""));
    const auto again = compiler::ParsePlan(text);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(compiler::Print(*again), text);
    // The layout is the plan's.
    for (const compiler::PlanTensor& t : plan.tensors) {
      if (t.name == "layer1.master")
        EXPECT_EQ(static_cast<uint64_t>(t.hbm), step->layout.layers[1].master);
    }
  }
}

TEST(StepPlan, TheVerifierSeesWhatOverlaps) {
  const std::vector<Layer> layers = DigitsLayers();
  const StepOptions options;
  StepBuilder builder(layers, options, *FindPreset("v2"));
  ASSERT_TRUE(builder.Build().ok());
  const compiler::Plan& good = builder.plan();
  ASSERT_GT(good.buffers.size(), 20u);
  // A buffer of the same operation, one that all operations need, a tensor.
  compiler::Plan plan = good;
  for (size_t b = 1; b < plan.buffers.size(); ++b) {
    if (plan.buffers[b].first != plan.buffers[b - 1].first) continue;
    if (plan.buffers[b].bytes == 0 || plan.buffers[b - 1].bytes == 0) continue;
    plan.buffers[b].at = plan.buffers[b - 1].at;
    EXPECT_THAT(std::string(compiler::Verify(plan).message()),
                HasSubstr("overlap"));
    plan = good;
  }
  plan.buffers.back().at = 0;
  EXPECT_THAT(std::string(compiler::Verify(plan).message()),
              HasSubstr("&0 (kernels)"));
  plan = good;
  plan.tensors[1].hbm = plan.tensors[0].hbm;
  EXPECT_THAT(std::string(compiler::Verify(plan).message()),
              HasSubstr("overlap in HBM"));
}

}  // namespace
}  // namespace systole::training
