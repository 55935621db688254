// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Gradients of the kernels of depthwise convolutions, to the bit.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "systole/gen/presets.h"
#include "tests/lanes/convolution_text.h"
#include "tests/lanes/depthwise_check.h"

namespace systole::lanes {
namespace {

class DepthwiseGradientTest : public DepthwiseTest {};

// On presets whose unified buffer is small enough to be passed at ease.
class SmallDepthwiseGradientTest : public DepthwiseGradientTest {};

// Of the kernel of such a convolution, with windows of `window` positions.
Conv GradientOfKernel(int64_t channels, int64_t images, const Ints& size,
                      const Ints& window, const std::string& type = "bf16") {
  Conv c;
  c.batch_groups = channels;
  c.batch = 1;
  c.features = images;
  c.outputs = 1;
  c.size = size;
  c.window = window;
  c.low = c.high = {1, 1};
  c.input_batch = c.kernel_output = c.output_feature = 3;
  c.input_feature = c.kernel_input = 0;
  c.output_batch = 2;
  c.type = type;
  return c;
}

TEST_P(DepthwiseGradientTest, GradientsOfKernels) {
  for (const std::string type : {"f32", "bf16"}) {
    for (const int64_t channels : {8, 32, 128, 256}) {
      Conv c = GradientOfKernel(channels, 2, {6, 8}, {6, 8}, type);
      Check(c);
      c.infinities = true;
      c.low = {1, -1};
      c.high = {0, 3};
      Check(c);
      c.window = {3, 4};
      c.dilation = {2, 2};
      c.low = {0, 1};
      c.high = {1, 1};
      Check(c);
    }
  }
}

// Sections end within a line, and within the images of a position.
TEST_P(DepthwiseGradientTest, SectionsOfGradients) {
  for (const int64_t images : {1, 8, 5, 12}) {
    Conv c = GradientOfKernel(16, images, {4096 / 33 / images + 30, 32},
                              {4096 / 33 / images + 30, 32});
    Check(c);
    c.type = "f32";
    Check(c);
  }
}

TEST_P(DepthwiseGradientTest, WindowsOfGradients) {
  for (const Ints& taps : {Ints{1, 1}, {1, 4}, {5, 1}, {5, 5}, {2, 7}}) {
    Conv c = GradientOfKernel(FindPreset(GetParam())->cols, 3, {10, 12},
                              {10 - taps[0] + 3, 12 - taps[1] + 3});
    Check(c);
    c.stride = {2, 1};
    Check(c);
    c.batch_groups /= 2;
    c.outputs = 2;
    Check(c);
  }
}

TEST_P(DepthwiseGradientTest, GradientsInOneDimension) {
  Conv c = GradientOfKernel(64, 4, {40}, {40});
  c.stride = c.base = c.dilation = {1};
  c.reversal = {0};
  c.low = {3};
  c.high = {0};
  c.input_batch = c.kernel_output = c.output_feature = 2;
  c.output_batch = 1;
  Check(c);
  c.reversal = {1};
  Check(c);
}

// Bands of positions, each with all images.
TEST_P(SmallDepthwiseGradientTest, BandsOfGradients) {
  const Preset& preset = *FindPreset(GetParam());
  const int64_t channels = 2 * preset.cols;
  const int64_t lines = preset.ub_bytes / (2 * channels * 8 * 2);
  Conv c = GradientOfKernel(channels, 2, {lines, 8}, {lines, 8});
  Check(c);
  c.dilation = {2, 1};
  c.window = {lines / 2, 8};
  Check(c);
}

// A line of all images does not fit.
TEST_P(SmallDepthwiseGradientTest, ColumnsOfGradients) {
  const Preset& preset = *FindPreset(GetParam());
  const int64_t channels = 2 * preset.cols, images = 12;
  const int64_t columns = preset.ub_bytes / (3 * 2 * channels * images) + 5;
  for (const int64_t low : {1, 0, -2}) {
    Conv c = GradientOfKernel(channels, images, {5, columns}, {5, columns});
    c.low[1] = low;
    c.high[1] = 2 - low;
    Check(c);
  }
}

// Any sizes; some are left to the array. SYSTOLE_ROUNDS: how many.
TEST_P(DepthwiseGradientTest, RandomShapes) {
  const char* rounds = std::getenv("SYSTOLE_ROUNDS");
  std::mt19937_64 random(2);
  const auto pick = [&random](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % (high - low + 1));
  };
  for (int i = 0; i < (rounds == nullptr ? 20 : std::atoi(rounds)); ++i) {
    Conv c = GradientOfKernel(pick(2, 90), pick(1, 14), {1, 1}, {1, 1},
                              pick(0, 1) == 0 ? "f32" : "bf16");
    c.infinities = pick(0, 3) == 0;
    c.outputs = pick(0, 5) == 0 ? 2 : 1;
    for (size_t d = 0; d < 2; ++d) {
      c.size[d] = pick(1, 24);
      c.window[d] = pick(1, 24);
      c.stride[d] = pick(1, 2);
      c.dilation[d] = pick(1, 2);
      c.low[d] = pick(-1, 3);
      // One to four taps.
      const int64_t extent = (c.window[d] - 1) * c.dilation[d] + 1;
      c.high[d] = extent - c.low[d] - c.size[d] + pick(0, 3) * c.stride[d];
    }
    check_.Check(ConvolutionText(c), ++seed_, /*host_operations=*/9);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, DepthwiseGradientTest,
                         testing::Values("mini", "lite", "v2"));
INSTANTIATE_TEST_SUITE_P(Presets, SmallDepthwiseGradientTest,
                         testing::Values("mini", "lite"));

}  // namespace
}  // namespace systole::lanes
