// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A training step as a module of the IR and its memory as a plan: the text and
// the verifiers of all compilers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "host/compiler/plan.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "host/training/step_builder.h"
#include "host/training/step_module.h"

namespace systole::training {
namespace {

using testing::HasSubstr;

std::unique_ptr<ir::Module> DigitsModule(const StepOptions& options) {
  auto module = StepModule(DigitsLayers(), options, 128);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

TEST(StepModule, IsReadAsItIsPrinted) {
  for (const OptimiserKind kind : {OptimiserKind::kAdam, OptimiserKind::kSgd}) {
    for (const bool forward : {false, true}) {
      StepOptions options;
      options.batch = 4;
      options.optimiser = kind;
      options.forward_only = forward;
      const auto module = DigitsModule(options);
      const auto again = ir::Parse(ir::Print(*module));
      ASSERT_TRUE(again.ok()) << again.status();
      EXPECT_TRUE(ir::Equal(*module, **again));
      EXPECT_EQ(ir::Verify(**again), absl::OkStatus());
    }
  }
}

TEST(StepModule, SaysWhatAStepDoes) {
  StepOptions options;
  options.batch = 4;
  const std::string text = ir::Print(*DigitsModule(options));
  for (const char* line :
       {"%conv2.z = bf16[4,14,14,24] train.product(%conv1.a, %conv2.working), "
        "kernel=[6, 6], stride=[2, 2], padding=[2, 2, 2, 2]",
        "%dense1.in = bf16[4,3136] hlo.reshape(%conv3.a)",
        "%dense2.dz = (bf16[4,10], f32[], f32[]) train.classify(%dense1.a, "
        "%dense2.working, %dense2.offset, %labels)",
        "%conv2.dz = (bf16[4,14,14,24], f32[24]) train.norm_gradient(%conv2.z, "
        "%conv2.offset, %conv2.a#1, %conv2.a#2, %conv3.dx)",
        "train.adam(%conv1.weights, %conv1.weights.first, "
        "%conv1.weights.second, %conv1.dw, %powers.update, %rate)"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

// Of a step's text, one thing at a time made wrong.
TEST(StepModule, TheVerifierSeesWrongTypes) {
  StepOptions options;
  options.batch = 4;
  const std::string text = ir::Print(*DigitsModule(options));
  struct Fault {
    const char *from, *to, *message;
  };
  for (const Fault& fault : std::vector<Fault>{
           {"bf16[4,14,14,24] train.product", "bf16[4,14,15,24] train.product",
            "node 'conv2.z' (train.product): result 0 is"},
           {"train.product(%conv1.a, %conv2.working)",
            "train.product(%conv1.a, %conv3.working)",
            "node 'conv2.z' (train.product): operand 1 is"},
           {"%conv2.a#2, %conv3.dx)", "%conv2.a#2, %conv3.z)",
            "node 'conv2.dz' (train.norm_gradient): operand 4 is"},
           {"train.weight_gradient(%conv1.a, %conv2.dz)",
            "train.weight_gradient(%images, %conv2.dz)",
            "node 'conv2.dw' (train.weight_gradient)"},
           {"train.input_gradient(%conv2.dz,",
            "train.input_gradient(%conv3.dz,",
            "node 'conv2.dx' (train.input_gradient): operand 0 is"},
           {"train.bias_gradient(%dense2.dz)",
            "train.bias_gradient(%dense2.dz#1)",
            "node 'dense2.doffset' (train.bias_gradient): operand 0 is"},
           {"%conv1.weights.second, %conv1.dw, %powers.update",
            "%conv1.weights.second, %conv2.dw, %powers.update",
            "node 'conv1.update' (train.adam): operand 3 is"},
           {"f32[2] train.adam_powers(%powers)",
            "f32[2] train.adam_powers(%conv1.offset)",
            "node 'powers.update' (train.adam_powers): operand 0 is"}}) {
    const std::string wrong =
        absl::StrReplaceAll(text, {{fault.from, fault.to}});
    ASSERT_NE(wrong, text) << fault.from;
    const auto module = ir::Parse(wrong);
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_THAT(std::string(ir::Verify(**module).message()),
                HasSubstr(fault.message));
  }
}

// What the verifier of modules does not know of: order in memory, emitters.
TEST(StepModule, TheBuilderRefuses) {
  StepOptions options;
  options.batch = 4;
  const auto refused = [](const ir::Module& module) {
    return std::string(StepBuilder(module, module, *FindPreset("lite"))
                           .Build()
                           .status()
                           .message());
  };
  auto module = DigitsModule(options);
  EXPECT_EQ(refused(*module), "");
  // The optimiser has written the weights that the input gradient reads.
  ir::Node *update = module->Find("conv2.update"),
           *dx = module->Find("conv2.dx");
  module->MoveBefore(dx, update);
  EXPECT_THAT(refused(*module),
              HasSubstr("node 'conv2.dx' reads 'conv2.working', which "
                        "'conv2.update' has written over"));
  module = DigitsModule(options);
  ir::Node* first = module->nodes()[0].get();
  module->Add(
      {"other", ir::Op::kHloNegate, first->type, {first}, ir::NoAttributes{}});
  EXPECT_THAT(refused(*module),
              HasSubstr("node 'other': a step has no hlo.negate of bf16[4,"));
}

TEST(StepModule, AStepLearns) {
  StepOptions options;
  options.batch = 4;
  options.forward_only = true;
  const auto module = DigitsModule(options);
  EXPECT_EQ(std::string(StepBuilder(*module, *module, *FindPreset("lite"))
                            .Build()
                            .status()
                            .message()),
            "module 'forward' is no step: a layer does not learn");
}

struct Built {
  std::unique_ptr<ir::Module> module;
  compiler::Plan plan;
  StepProgram step;
};

Built BuildDigits(const char* preset, int64_t batch) {
  StepOptions options;
  options.batch = batch;
  Built built;
  built.module = DigitsModule(options);
  StepBuilder builder(*built.module, *built.module, *FindPreset(preset));
  auto step = builder.Build();
  EXPECT_TRUE(step.ok()) << step.status();
  built.plan = builder.plan();
  if (step.ok()) built.step = *std::move(step);
  return built;
}

TEST(StepPlan, IsReadAsItIsPrinted) {
  for (const char* preset : {"lite", "v2"}) {
    const Built built = BuildDigits(preset, 4);
    const compiler::Plan& plan = built.plan;
    EXPECT_EQ(compiler::Verify(plan), absl::OkStatus());
    const std::string text = compiler::Print(plan);
    EXPECT_THAT(text, HasSubstr("%images = 4x1x784, bf16, input, in_hbm"));
    EXPECT_THAT(text, HasSubstr("\"conv2 weight gradient\""));
    const auto again = compiler::ParsePlan(text);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(compiler::Print(*again), text);
    // The layout is the plan's.
    for (const compiler::PlanTensor& t : plan.tensors) {
      if (t.name == "conv2.weights")
        EXPECT_EQ(static_cast<uint64_t>(t.hbm),
                  built.step.layout.layers[1].master);
    }
  }
}

TEST(StepPlan, TheVerifierSeesWhatOverlaps) {
  const compiler::Plan good = BuildDigits("v2", 64).plan;
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
