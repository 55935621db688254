// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Pools of a training step against the golden model: any window, any stride.
//   --backend=iss|rtl --preset=lite
#include <iterator>

#include "tests/testing/long.h"
#include "tests/training/step_check.h"

namespace systole {
namespace {

// Pools in front of a convolution and of a dense layer; two tiles of channels
// (at lite) in the second.
std::vector<training::Layer> PooledLayers(PoolKind kind,
                                          const PoolWindow& window) {
  const training::Layer first = training::Pooled(
      training::ConvLayer("conv1", 8, 20, 1, 3, 1, 6), kind, window);
  const int64_t h = first.pool.oh, w = first.pool.ow;
  training::Layer second = training::ConvLayer("conv2", h, w, 6, 1, 1, 37);
  if (h >= window.h && w >= window.w)
    second = training::Pooled(second, kind, window);
  return {first, second,
          training::DenseLayer("dense1", second.outputs(), 7, false)};
}

struct PoolCase {
  const char* name;
  PoolWindow window;
};

const PoolCase kPoolCases[] = {
    {"3x3, stride 2, same", {3, 3, 2, 2, Padding::kSame}},
    {"2x2, stride 2", {2, 2, 2, 2}},
    {"3x3, stride 2", {3, 3, 2, 2}},
    {"3x3, stride 1", {3, 3, 1, 1}},
    {"3x3, stride 1, same", {3, 3, 1, 1, Padding::kSame}},
    {"2x3, stride 1x2, same", {2, 3, 1, 2, Padding::kSame}},
    {"3x2, stride 2x3", {3, 2, 2, 3}},  // every third column in no window
    {"1x1, stride 3, same", {1, 1, 3, 3, Padding::kSame}},
    {"5x4, stride 3x1, same", {5, 4, 3, 1, Padding::kSame}},
    {"whole image", {8, 20, 8, 20}},
    {"larger than the image, same", {11, 23, 4, 5, Padding::kSame}},
};

void CheckPools(PoolKind kind) {
  for (size_t i = 0; i < std::size(kPoolCases); ++i) {
    if (g_backend == "rtl" && i % 3 != 0 && !testing_options::Long()) continue;
    const PoolCase& c = kPoolCases[i];
    SCOPED_TRACE(c.name);
    std::printf("%s\n", c.name);
    training::StepOptions options;
    options.batch = g_backend == "iss" ? 11 : 1;
    CheckSteps(PooledLayers(kind, c.window), options, 0.02f,
               g_backend == "iss" ? 3 : 1);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(TrainingPool, Max) { CheckPools(PoolKind::kMax); }
TEST(TrainingPool, Average) { CheckPools(PoolKind::kAverage); }

// After a step with a rate that is far too high all activations are NaN.
TEST(TrainingPool, Nans) {
  if (g_backend != "iss") GTEST_SKIP() << "the pools' instructions are tested";
  for (const PoolKind kind : {PoolKind::kMax, PoolKind::kAverage}) {
    training::StepOptions options;
    options.batch = 5;
    options.optimiser = training::OptimiserKind::kSgd;
    CheckSteps(PooledLayers(kind, {3, 3, 2, 2, Padding::kSame}), options, 1e30f,
               3);
  }
}

// In turns, where the unified buffer does not hold a second image.
TEST(TrainingPool, LargeImages) {
  if (g_backend != "iss") GTEST_SKIP() << "seconds of golden model";
  for (const PoolKind kind : {PoolKind::kMax, PoolKind::kAverage}) {
    const training::Layer first =
        training::Pooled(training::ConvLayer("conv1", 32, 32, 1, 3, 1, 40),
                         kind, {3, 3, 1, 1, Padding::kSame});
    training::StepOptions options;
    options.batch = 3;
    CheckSteps(
        {first, training::DenseLayer("dense1", first.outputs(), 7, false)},
        options, 0.02f, 1);
  }
}

// A max pool and an average pool in one network, and SGD.
TEST(TrainingPool, Both) {
  if (g_backend != "iss") GTEST_SKIP() << "the two tests above";
  training::StepOptions options;
  options.batch = 9;
  options.optimiser = training::OptimiserKind::kSgd;
  CheckSteps({training::Pooled(training::ConvLayer("conv1", 9, 9, 1, 3, 1, 5),
                               PoolKind::kMax, {3, 3, 2, 2}),
              training::Pooled(training::ConvLayer("conv2", 4, 4, 5, 3, 1, 40),
                               PoolKind::kAverage, {4, 4, 4, 4}),
              training::DenseLayer("dense1", 40, 7, false)},
             options, 0.05f, 3);
}

TEST(TrainingPool, Errors) {
  const auto pooled = [&](int layer, const PoolWindow& window) {
    std::vector<training::Layer> layers = SmallLayers();
    layers[layer] = training::Pooled(layers[layer], PoolKind::kMax, window);
    if (layer == 1)
      layers[2] = training::DenseLayer("dense1", layers[1].outputs(), 40, true);
    return BuildError(layers, 4, "lite");
  };
  EXPECT_EQ(pooled(1, {5, 5, 1, 1}), "");
  EXPECT_THAT(pooled(1, {6, 2, 1, 2}),
              HasSubstr("conv2: a pool of 6 x 2 with stride 1 x 2 does not fit "
                        "an image of 5 x 5 without padding"));
  EXPECT_EQ(pooled(1, {6, 2, 1, 2, Padding::kSame}), "");
  EXPECT_THAT(
      pooled(1, {2, 2, 0, 1}),
      HasSubstr("conv2: a pool of 2 x 2 with stride 0 x 1: at least 1"));
  EXPECT_THAT(pooled(2, {1, 1, 1, 1}),
              HasSubstr("dense1: a pool of 1 x 1 with stride 1 x 1 stands "
                        "behind a convolution only"));
  EXPECT_THAT(pooled(0, {2, 2, 2, 2}),
              HasSubstr("conv1 has 150 outputs, conv2 takes 600"));
  const training::Layer wide =
      training::Pooled(training::ConvLayer("wide", 32, 32, 1, 3, 1, 50),
                       PoolKind::kMax, {3, 3, 1, 1, Padding::kSame});
  EXPECT_THAT(
      BuildError({wide, training::ConvLayer("conv2", 32, 32, 50, 4, 4, 3),
                  training::DenseLayer("dense", 8 * 8 * 3, 7, false)},
                 4, "lite"),
      HasSubstr("wide: an image of the pool needs "));
  const training::Layer tall =
      training::Pooled(training::ConvLayer("tall", 65536, 1, 1, 3, 1, 1),
                       PoolKind::kMax, {2, 1, 2, 1});
  EXPECT_THAT(BuildError({tall, training::DenseLayer("dense", tall.outputs(), 7,
                                                     false)},
                         4, "lite"),
              HasSubstr("tall: a pool of 2 x 1 with stride 2 x 1: images of "
                        "65536 lines, its kernels take 65535"));
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) { return systole::RunStepTests(argc, argv); }
