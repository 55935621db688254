// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Convolutions in groups of few features, on the vector unit, to the bit.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "host/compiler/kernels/depthwise_kernel.h"
#include "host/compiler/kernels/depthwise_shape.h"
#include "host/compiler/kernels/module_lowering.h"
#include "host/ir/text.h"
#include "systole/gen/presets.h"
#include "tests/lanes/convolution_text.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

// Of so many channels, images [7, 6] and taps [3, 3].
Conv Channels(int64_t channels, const std::string& type = "f32",
              int64_t multiplier = 1) {
  Conv c;
  c.groups = channels;
  c.features = 1;
  c.outputs = multiplier;
  c.window = {3, 3};
  c.low = c.high = {1, 1};
  c.type = type;
  return c;
}

int DepthwiseNodes(const Conv& c, const std::string& preset) {
  auto module = ir::Parse(ConvolutionText(c));
  LowerModule(**module, *FindPreset(preset));
  int count = 0;
  for (const auto& node : (*module)->nodes())
    count += IsDepthwise(*node) || IsDepthwiseGradient(*node);
  return count;
}

class DepthwiseTest : public testing::TestWithParam<const char*> {
 protected:
  DepthwiseTest() : check_(GetParam()) {}

  // With `kernels` depthwise convolutions.
  void Check(const Conv& c, int kernels = 1, int host_operations = 0) {
    EXPECT_EQ(DepthwiseNodes(c, GetParam()), kernels) << ConvolutionText(c);
    check_.Check(ConvolutionText(c), ++seed_, host_operations);
  }

  DeviceCheck check_;
  uint64_t seed_ = 0;
};

TEST_P(DepthwiseTest, NumbersOfChannels) {
  for (const int64_t channels : {2, 3, 8, 17, 33, 64, 130, 257}) {
    Check(Channels(channels));
    Check(Channels(channels, "bf16"));
  }
}

TEST_P(DepthwiseTest, Precisions) {
  for (const char* precision : {"DEFAULT", "HIGH", "HIGHEST"}) {
    for (const int64_t channels : {5, 40}) {
      Conv c = Channels(channels);
      c.precision = precision;
      Check(c);
      c.infinities = true;
      Check(c);
      c.window = {1, 2};
      Check(c);
    }
  }
}

// Sums of few terms keep zeros of either sign, subnormals and single NaNs.
TEST_P(DepthwiseTest, FewTaps) {
  for (const std::string type : {"f32", "bf16"}) {
    for (const Ints& window : {Ints{1, 1}, {1, 2}, {2, 1}}) {
      Conv c = Channels(9, type);
      c.size = {20, 30};
      c.window = window;
      c.low = c.high = {0, 0};
      Check(c);
      c.low = {1, 1};
      c.infinities = true;
      Check(c);
    }
  }
}

TEST_P(DepthwiseTest, Strides) {
  for (const std::string type : {"f32", "bf16"}) {
    for (const Ints& stride : {Ints{2, 2}, {1, 2}, {2, 1}, {3, 4}}) {
      for (const int64_t channels : {3, 16, 136}) {
        Conv c = Channels(channels, type);
        c.size = {17, 14};
        c.stride = stride;
        c.low = {0, 1};
        Check(c);
      }
    }
  }
}

TEST_P(DepthwiseTest, Dilations) {
  for (const Ints& dilation : {Ints{2, 2}, {1, 3}, {4, 1}}) {
    Conv c = Channels(8, "bf16");
    c.size = {13, 17};
    c.dilation = dilation;
    c.low = c.high = {2, 3};
    Check(c);
    c.stride = {2, 3};
    Check(c);
    c.type = "f32";
    c.reversal = {1, 0};
    Check(c);
  }
}

TEST_P(DepthwiseTest, Padding) {
  Conv c = Channels(24, "bf16");
  c.size = {9, 11};
  for (const auto& [low, high] : {std::pair(Ints{-1, -2}, Ints{2, 0}),
                                  std::pair(Ints{3, -1}, Ints{-2, 4}),
                                  std::pair(Ints{0, 0}, Ints{-4, -3}),
                                  std::pair(Ints{12, 3}, Ints{0, 20}),
                                  std::pair(Ints{-10, 0}, Ints{5, 0})}) {
    c.low = low;
    c.high = high;
    c.type = "bf16";
    Check(c);
    c.type = "f32";
    c.infinities = !c.infinities;
    Check(c);
  }
}

TEST_P(DepthwiseTest, Windows) {
  Conv c = Channels(12, "bf16");
  c.size = {15, 19};
  for (const Ints& window : {Ints{5, 5}, {7, 7}, {1, 9}, {11, 1}, {15, 19}}) {
    c.window = window;
    c.low = c.high = {window[0] / 2, window[1] / 2};
    Check(c);
  }
  c.type = "f32";
  c.precision = "HIGHEST";
  c.window = {5, 5};
  c.low = c.high = {2, 2};
  Check(c);
}

TEST_P(DepthwiseTest, OneAndThreeDimensions) {
  for (const std::string type : {"f32", "bf16"}) {
    for (const int64_t channels : {3, 32, 72}) {
      Conv c = Channels(channels, type);
      c.size = {75};
      c.window = {4};
      c.stride = c.base = c.dilation = {1};
      c.reversal = {0};
      c.low = {3};
      c.high = {0};
      c.input_feature = c.output_feature = 2;
      c.kernel_input = 1;
      c.kernel_output = 2;
      Check(c);
      c.stride = {2};
      c.dilation = {3};
      Check(c);
      c.size = {5, 6, 7};
      c.window = {3, 2, 3};
      c.base = c.dilation = {1, 1, 1};
      c.stride = {1, 2, 1};
      c.low = {1, 0, 2};
      c.high = {1, 1, 0};
      c.reversal = {0, 1, 0};
      c.input_feature = c.output_feature = 4;
      c.kernel_input = 3;
      c.kernel_output = 4;
      Check(c);
    }
  }
}

TEST_P(DepthwiseTest, ChannelsSecond) {
  for (const std::string type : {"f32", "bf16"}) {
    Conv c = Channels(20, type);
    c.size = {12, 9};
    c.input_feature = c.output_feature = 1;
    c.kernel_output = 0;
    c.kernel_input = 1;
    Check(c);
    c.stride = {2, 2};
    c.outputs = 2;
    Check(c);
  }
}

TEST_P(DepthwiseTest, Multipliers) {
  for (const int64_t multiplier : {2, 3, 4}) {
    Conv c = Channels(16, multiplier == 3 ? "bf16" : "f32", multiplier);
    Check(c);
    c.batch = 3;
    c.stride = {2, 1};
    c.precision = "HIGH";
    Check(c);
  }
}

// Groups of several features: the features are the inner terms of a tap. Where
// the array is small, it is faster.
TEST_P(DepthwiseTest, FeaturesOfGroups) {
  const int64_t lanes = FindPreset(GetParam())->cols;
  for (const std::string type : {"f32", "bf16"}) {
    Conv c = Channels(64, type, 2);
    c.size = {20, 21};
    c.features = 2;
    c.infinities = true;
    Check(c, lanes > 8 ? 1 : 0);
    c.stride = {2, 2};
    c.outputs = 3;
    c.dilation = {1, 2};
    Check(c, lanes > 32 ? 1 : 0);
  }
}

TEST_P(DepthwiseTest, Images) {
  for (const int64_t batch : {1, 5, 12}) {
    for (const int64_t channels : {3, 32}) {
      Conv c = Channels(channels, "bf16");
      c.batch = batch;
      c.size = {5, 5};
      Check(c);
      c.size = {7, 33};
      Check(c);
      c.size = {40, 2};
      Check(c);
    }
  }
}

// Bands of lines, with another padding at the edges of an image.
TEST_P(DepthwiseTest, Bands) {
  const Preset& preset = *FindPreset(GetParam());
  const int64_t channels = preset.cols;
  // Of words, and of two images: they do not fit.
  const int64_t lines = preset.ub_bytes / (4 * channels * 8) + 13;
  for (const std::string type : {"f32", "bf16"}) {
    if (preset.cols > 32 && type == "bf16") continue;  // as at other presets
    Conv c = Channels(channels, type);
    c.batch = 1;
    c.size = {lines * (type == "f32" ? 1 : 2), 8};
    c.low = {2, 1};
    Check(c);
    c.stride = {2, 2};
    Check(c);
    c.size = {lines * 16};
    c.window = {5};
    c.stride = c.base = c.dilation = {1};
    c.reversal = {0};
    c.low = c.high = {2};
    c.input_feature = c.output_feature = 2;
    c.kernel_input = 1;
    c.kernel_output = 2;
    Check(c);
  }
}

// Lines that the unified buffer does not hold are left to the array.
TEST_P(DepthwiseTest, TooLarge) {
  const Preset& preset = *FindPreset(GetParam());
  if (preset.ub_bytes > int64_t{1} << 20) GTEST_SKIP();
  Conv c = Channels(8);
  c.batch = 1;
  c.size = {4, preset.ub_bytes / (4 * 8 * 2)};
  Check(c, 0, /*host_operations=*/5);
}

// The gradient of an input is a convolution of a dilated input.
TEST_P(DepthwiseTest, GradientsOfInputs) {
  for (const std::string type : {"f32", "bf16"}) {
    Conv c = Channels(16, type);
    c.reversal = {1, 1};
    Check(c);
    c.base = {2, 2};
    c.high = {2, 2};
    Check(c, 4);
    c.base = {1, 3};
    Check(c, 3);
  }
}

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

TEST_P(DepthwiseTest, GradientsOfKernels) {
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
TEST_P(DepthwiseTest, SectionsOfGradients) {
  for (const int64_t images : {1, 8, 5, 12}) {
    Conv c = GradientOfKernel(16, images, {4096 / 33 / images + 30, 32},
                              {4096 / 33 / images + 30, 32});
    Check(c);
    c.type = "f32";
    Check(c);
  }
}

TEST_P(DepthwiseTest, WindowsOfGradients) {
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

TEST_P(DepthwiseTest, GradientsInOneDimension) {
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
TEST_P(DepthwiseTest, BandsOfGradients) {
  const Preset& preset = *FindPreset(GetParam());
  if (preset.cols > 32) GTEST_SKIP();
  const int64_t channels = 2 * preset.cols;
  const int64_t lines = preset.ub_bytes / (2 * channels * 8 * 2);
  Conv c = GradientOfKernel(channels, 2, {lines, 8}, {lines, 8});
  Check(c);
  c.dilation = {2, 1};
  c.window = {lines / 2, 8};
  Check(c);
}

// A line of all images does not fit.
TEST_P(DepthwiseTest, ColumnsOfGradients) {
  const Preset& preset = *FindPreset(GetParam());
  if (preset.cols > 32) GTEST_SKIP();
  const int64_t channels = 2 * preset.cols, images = 12;
  const int64_t columns = preset.ub_bytes / (3 * 2 * channels * images) + 5;
  for (const int64_t low : {1, 0, -2}) {
    Conv c = GradientOfKernel(channels, images, {5, columns}, {5, columns});
    c.low[1] = low;
    c.high[1] = 2 - low;
    Check(c);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, DepthwiseTest,
                         testing::Values("mini", "lite", "v2"));

}  // namespace
}  // namespace systole::lanes
