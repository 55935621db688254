// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Checks of depthwise convolutions and their gradients, on the vector unit.
#ifndef SYSTOLE_TESTS_LANES_DEPTHWISE_CHECK_H_
#define SYSTOLE_TESTS_LANES_DEPTHWISE_CHECK_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "host/compiler/kernels/depthwise_shape.h"
#include "host/compiler/kernels/module_lowering.h"
#include "host/ir/text.h"
#include "systole/gen/presets.h"
#include "tests/lanes/convolution_text.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {

// A depthwise convolution of so many channels, images [7, 6] and taps [3, 3].
inline Conv Channels(int64_t channels, const std::string& type = "f32",
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

// Of the lowered module.
inline int DepthwiseNodes(const Conv& c, const std::string& preset) {
  auto module = ir::Parse(ConvolutionText(c));
  LowerModule(**module, *FindPreset(preset));
  int count = 0;
  for (const auto& node : (*module)->nodes())
    count += IsDepthwise(*node) || IsDepthwiseGradient(*node);
  return count;
}

// Tests at a preset.
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

}  // namespace systole::lanes

#endif  // SYSTOLE_TESTS_LANES_DEPTHWISE_CHECK_H_
