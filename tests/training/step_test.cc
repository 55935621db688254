// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Training steps on a device against the golden model (docs/training.md).
//   --backend=iss|rtl --preset=lite --steps=N --batch=B
#include "tests/training/step_check.h"

namespace systole {
namespace {

TEST(TrainingStep, SmallAdam) {
  training::StepOptions options;
  options.batch = 5;
  CheckSteps(SmallLayers(), options, 0.002f, 3);
}

TEST(TrainingStep, SmallSgd) {
  training::StepOptions options;
  options.batch = 11;
  options.optimiser = training::OptimiserKind::kSgd;
  CheckSteps(SmallLayers(), options, 0.05f, 3);
}

TEST(TrainingStep, Digits) {
  training::StepOptions options;
  options.batch = g_batch;
  CheckSteps(training::DigitsLayers(), options, 0.002f, g_steps);
}

// Eight, two positions and one in a row of batch norm, over several tiles of
// lanes; first layers whose vectors hold several positions, and one that has an
// odd number of them.
TEST(TrainingStep, PositionsInRows) {
  training::StepOptions options;
  options.batch = 6;
  const std::vector<training::Layer> layers = {
      training::ConvLayer("conv1", 16, 16, 1, 3, 1, 16),
      training::ConvLayer("conv2", 16, 16, 16, 2, 2, 40),
      training::ConvLayer("conv3", 8, 8, 40, 3, 2, 130),
      training::DenseLayer("dense1", 4 * 4 * 130, 20, true),
      training::DenseLayer("dense2", 20, 5, false)};
  EXPECT_EQ(training::PositionsInRow(layers[0]), 8);
  EXPECT_EQ(training::PositionsInRow(layers[1]), 2);
  EXPECT_EQ(training::PositionsInRow(layers[2]), 1);
  if (g_backend == "iss") CheckSteps(layers, options, 0.01f, 2);
  options.batch = 3;
  CheckSteps({training::ConvLayer("strided", 13, 12, 1, 3, 2, 3),
              training::DenseLayer("dense", 7 * 6 * 3, 5, false)},
             options, 0.01f, 2);
  CheckSteps({training::ConvLayer("odd", 9, 11, 1, 3, 1, 2),
              training::DenseLayer("dense", 9 * 11 * 2, 5, false)},
             options, 0.01f, 2);
}

// The first activations alone are twice what the unified buffer holds: each
// block streams from HBM, the inputs of dense layers in slices. Neither a
// multiple of 8 nor of Rows.
TEST(TrainingStep, BatchLargerThanTheUnifiedBuffer) {
  if (g_backend != "iss") GTEST_SKIP() << "minutes on the RTL";
  const Preset& preset = *FindPreset(g_preset);
  const std::vector<training::Layer> layers = training::DigitsLayers();
  training::StepOptions options;
  const int64_t image = 2 * layers[0].positions() * layers[0].co;
  options.batch = 2 * preset.ub_bytes / image + 3;
  ASSERT_GT(options.batch * image, 2 * preset.ub_bytes);
  ASSERT_NE(options.batch % 8, 0);
  CheckSteps(layers, options, 0.002f, 1);
}

// More images than one operation takes: sums go on in the next.
TEST(TrainingStep, ManyImages) {
  if (g_backend != "iss") GTEST_SKIP() << "a minute on the RTL";
  training::StepOptions options;
  options.batch = 1100;
  CheckSteps({training::Pooled(training::ConvLayer("conv1", 8, 8, 1, 3, 2, 3),
                               PoolKind::kMax, {2, 2, 2, 2}),
              training::DenseLayer("dense1", 2 * 2 * 3, 9, true),
              training::DenseLayer("dense2", 9, 5, false)},
             options, 0.01f, 2);
}

TEST(TrainingStep, Errors) {
  EXPECT_THAT(BuildError(SmallLayers(), 0, "lite"), HasSubstr("a batch of 0"));
  EXPECT_THAT(BuildError(SmallLayers(), 4, "edge"), HasSubstr("int8 cell"));
  EXPECT_THAT(BuildError(training::DigitsLayers(), 4, "mini"),
              HasSubstr("at most 8 classes"));
  EXPECT_EQ(BuildError({training::DenseLayer("wide", 4, 8000, true),
                        training::DenseLayer("last", 8000, 5, false)},
                       4, "lite"),
            "251 parameter blocks and the sums of batch norm need 1717632 "
            "bytes, the unified buffer of preset 'lite' has 1048576");
  std::vector<training::Layer> layers = SmallLayers();
  layers[0] = training::ConvLayer("conv1", 10, 10, 1, 3, 2, 6);
  EXPECT_THAT(BuildError(layers, 4, "lite"),
              HasSubstr("conv1 has 150 outputs, conv2 takes 600"));
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) { return systole::RunStepTests(argc, argv); }
