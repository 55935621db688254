// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Convolutions in groups of few features, on the vector unit, to the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>

#include "systole/gen/presets.h"
#include "tests/lanes/convolution_text.h"
#include "tests/lanes/depthwise_check.h"

namespace systole::lanes {
namespace {

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

// On presets whose unified buffer is small enough to be passed at ease.
class SmallDepthwiseTest : public DepthwiseTest {};

// Lines that the unified buffer does not hold are left to the array.
TEST_P(SmallDepthwiseTest, TooLarge) {
  const Preset& preset = *FindPreset(GetParam());
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

// Any sizes; some are left to the array. SYSTOLE_ROUNDS: how many.
TEST_P(DepthwiseTest, RandomShapes) {
  const char* rounds = std::getenv("SYSTOLE_ROUNDS");
  std::mt19937_64 random(1);
  const auto pick = [&random](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % (high - low + 1));
  };
  for (int i = 0; i < (rounds == nullptr ? 30 : std::atoi(rounds)); ++i) {
    Conv c = Channels(pick(2, 70), pick(0, 1) == 0 ? "f32" : "bf16");
    c.batch = pick(1, 5);
    c.outputs = pick(0, 5) == 0 ? 2 : 1;
    c.infinities = pick(0, 3) == 0;
    c.precision = std::array{"DEFAULT", "HIGH", "HIGHEST"}[pick(0, 2)];
    for (size_t d = 0; d < 2; ++d) {
      c.size[d] = pick(1, 24);
      c.window[d] = pick(1, 5);
      c.stride[d] = pick(1, 3);
      c.dilation[d] = pick(1, 3);
      c.base[d] = pick(0, 6) == 0 ? 2 : 1;
      c.reversal[d] = pick(0, 1);
      c.low[d] = pick(-1, 4);
      // At least one window.
      const int64_t extent = (c.window[d] - 1) * c.dilation[d] + 1,
                    dilated = c.low[d] + (c.size[d] - 1) * c.base[d] + 1;
      c.high[d] = std::max(extent - dilated, pick(-1, 3));
    }
    check_.Check(ConvolutionText(c), ++seed_, /*host_operations=*/9);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, DepthwiseTest,
                         testing::Values("mini", "lite", "v2"));
INSTANTIATE_TEST_SUITE_P(Presets, SmallDepthwiseTest,
                         testing::Values("mini", "lite"));

}  // namespace
}  // namespace systole::lanes
