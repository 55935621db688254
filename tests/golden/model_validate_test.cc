// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Each rule of docs/network.md, broken one at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "systole/model.h"
#include "tests/golden/sample_network.h"
#include "verif/golden/network.h"

namespace systole::model {
namespace {

using ::testing::HasSubstr;

struct Rule {
  const char* name;
  std::function<void(Network&)> breaks;
  const char* message;  // part of it
};

void PrintTo(const Rule& rule, std::ostream* os) { *os << rule.name; }

Layer& Conv(Network& n) { return n.layers[0]; }
Layer& MaxPool(Network& n) { return n.layers[1]; }
Layer& Add(Network& n) { return n.layers[3]; }
Layer& Dense(Network& n) { return n.layers[4]; }

// A concatenation, behind all others.
void Beside(Network& n, std::vector<int> inputs, Tensor output) {
  Layer layer;
  layer.name = "beside";
  layer.op = Op::kConcat;
  layer.inputs = std::move(inputs);
  layer.output = static_cast<int>(n.tensors.size());
  n.tensors.push_back(std::move(output));
  n.layers.push_back(std::move(layer));
}

const Rule kRules[] = {
    {"NoInput", [](Network& n) { n.inputs = {6}; }, "no input or output"},
    {"NoOutput", [](Network& n) { n.outputs = {-1}; }, "no input or output"},
    {"NoLayers", [](Network& n) { n.layers.clear(); }, "no layers"},
    {"TensorTwice", [](Network& n) { n.tensors[1].name = "in"; },
     "tensor 'in'"},
    {"LayerNameEmpty", [](Network& n) { Conv(n).name = ""; }, "name is empty"},
    {"ZeroChannels", [](Network& n) { n.tensors[2].channels = 0; },
     "tensor 'm'"},
    {"Huge",
     [](Network& n) { n.tensors[0] = {"in", 1 << 20, 1 << 20, 1 << 20, 1, 0}; },
     "elements"},
    {"ScaleZero", [](Network& n) { n.tensors[0].scale = 0; }, "scale 0"},
    {"ScaleNan",
     [](Network& n) {
       n.tensors[0].scale = std::numeric_limits<float>::quiet_NaN();
     },
     "scale nan"},
    {"ZeroPoint", [](Network& n) { n.tensors[0].zero_point = 128; },
     "zero point 128"},
    {"InputUnknown", [](Network& n) { Conv(n).inputs = {9}; },
     "layer 'conv': unknown input"},
    {"OutputUnknown", [](Network& n) { Conv(n).output = -1; },
     "unknown output"},
    {"ConcatZeroPoint",
     [](Network& n) {
       Beside(n, {0, 1}, {"beside", 6, 5, 5, 1, 3});
     },
     "layer 'beside': a concatenation keeps the zero point, 'c' has another"},
    {"ConcatSize",
     [](Network& n) {
       Beside(n, {1, 1}, {"beside", 6, 5, 5, 1, -10});
     },
     "its inputs are not 'beside' side by side"},
    {"ConcatNothing",
     [](Network& n) {
       Beside(n, {}, {"beside", 6, 5, 5, 1, -10});
     },
     "layer 'beside': 0 inputs"},
    {"Arity", [](Network& n) { Add(n).inputs.pop_back(); },
     "1 inputs instead of 2"},
    {"Order", [](Network& n) { std::swap(n.layers[0], n.layers[1]); },
     "is not computed before"},
    {"WrittenTwice", [](Network& n) { n.layers[2].output = 2; },
     "exists already"},
    {"NeverWritten",
     [](Network& n) {
       n.tensors.push_back({"x", 1, 1, 1, 1, 0});
     },
     "tensor 'x': no layer"},
    {"ClampOrder", [](Network& n) { Conv(n).clamp_max = -11; },
     "clamp -10..-11"},
    {"ClampRange", [](Network& n) { Conv(n).clamp_min = -129; }, "clamp -129"},
    {"StrideZero", [](Network& n) { Conv(n).window.stride_h = 0; },
     "is outside 1.."},
    {"PaddingNegative", [](Network& n) { Conv(n).window.pad_left = -1; },
     "padding -1"},
    {"Geometry", [](Network& n) { Conv(n).window.pad_top = 0; },
     "6x5, but the geometry gives 5x5"},
    {"WindowTooLarge", [](Network& n) { Conv(n).window.dilation_h = 100; },
     "geometry gives 0x5"},
    {"Weights", [](Network& n) { Conv(n).weights.pop_back(); },
     "53 weights instead of 3 x 18"},
    {"Bias", [](Network& n) { Dense(n).bias.push_back(0); }, "5 biases"},
    {"Multiplier",
     [](Network& n) { Conv(n).requant[2].multiplier = (1 << 30) - 1; },
     "layer 'conv': channel 2: multiplier 1073741823"},
    {"MultiplierNegative",
     [](Network& n) { Conv(n).requant[0].multiplier = INT32_MIN; },
     "multiplier -2147483648"},
    {"ShiftHigh", [](Network& n) { Dense(n).requant[1].shift = 31; },
     "channel 1: shift 31"},
    {"ShiftLow", [](Network& n) { Dense(n).requant[1].shift = -32; },
     "shift -32"},
    {"DenseShape", [](Network& n) { n.tensors[5].height = 2; }, "1x1xN"},
    {"PoolScale", [](Network& n) { n.tensors[2].scale = 0.2f; },
     "keeps channels, scale and zero point"},
    {"PoolPadding", [](Network& n) { MaxPool(n).window.pad_right = 2; },
     "smaller than its kernel"},
    {"PoolDilation", [](Network& n) { MaxPool(n).window.dilation_w = 2; },
     "no dilation"},
    {"PoolWeights", [](Network& n) { MaxPool(n).bias = {1}; },
     "a layer that has none"},
    {"AddShape", [](Network& n) { Add(n).inputs[1] = 1; },
     "shapes of 'c' and 's' differ"},
    {"AddMultiplier", [](Network& n) { Add(n).add[1].multiplier = 5; },
     "multiplier 5"},
    {"AddLeftShift", [](Network& n) { Add(n).add[2].shift = 1; },
     "shifts right only"},
};

class ValidateRule : public ::testing::TestWithParam<Rule> {};

TEST_P(ValidateRule, IsChecked) {
  Network network = SampleNetwork();
  ASSERT_TRUE(Validate(network).ok()) << Validate(network);
  GetParam().breaks(network);
  const absl::Status status = Validate(network);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr(GetParam().message));
  EXPECT_FALSE(SerializeNetwork(network).ok());
}

INSTANTIATE_TEST_SUITE_P(All, ValidateRule, ::testing::ValuesIn(kRules),
                         [](const auto& info) { return info.param.name; });

TEST(Geometry, OutputSize) {
  EXPECT_EQ(OutputSize(28, 6, 2, 1, 2, 2), 14);
  EXPECT_EQ(OutputSize(28, 3, 1, 1, 1, 1), 28);
  EXPECT_EQ(OutputSize(5, 3, 1, 2, 0, 0), 1);
  EXPECT_EQ(OutputSize(4, 3, 1, 2, 0, 0), 0);
  EXPECT_EQ(OutputSize(7, 2, 3, 1, 0, 0), 2);
}

TEST(Geometry, Macs) {
  const Network network = SampleNetwork();
  EXPECT_EQ(Macs(network, network.layers[0]), 6 * 5 * 3 * 18);
  EXPECT_EQ(Macs(network, network.layers[1]), 0);
  EXPECT_EQ(Macs(network, network.layers[4]), 27 * 4);
}

// Every operation through RunNetwork, wired as the single calls are.
// An image of 3 x 4 positions of 2 channels, a part of it, and sums.
Network PartAndSums() {
  Network n;
  n.name = "n";
  n.tensors = {
      {"in", 3, 4, 2, 1, 5}, {"part", 2, 2, 1, 1, 5}, {"sums", 3, 4, 12, 1, 0}};
  n.outputs = {1, 2};
  Layer part, sums;
  part.name = "slice";
  part.op = Op::kSlice;
  part.inputs = {0};
  part.output = 1;
  part.begin = {0, 1, 1};
  part.window.stride_h = 2;
  part.window.stride_w = 2;
  sums.name = "products";
  sums.op = Op::kSums;
  sums.inputs = {0};
  sums.output = 2;
  sums.weights = {1, 2, -3, 4, 127, -128};
  n.layers = {part, sums};
  return n;
}

TEST(RunNetwork, PartsAndSums) {
  const Network n = PartAndSums();
  std::vector<int8_t> values(24);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int8_t>(i * 11 - 128);
  const auto results =
      golden::RunNetwork(n, {golden::TensorI8(1, 3, 4, 2, values)});
  ASSERT_TRUE(results.ok()) << results.status();
  // Lines 0 and 2, positions 1 and 3, channel 1.
  EXPECT_THAT(
      (*results)[0].data(),
      ::testing::ElementsAre(values[3], values[7], values[19], values[23]));
  // 127 * -128 - 128 * -117 = -1280, the lowest byte first.
  EXPECT_EQ((*results)[1].data()[8], 0);
  EXPECT_EQ((*results)[1].data()[9], -5);
  EXPECT_EQ((*results)[1].data()[10], -1);
  EXPECT_EQ(Macs(n, n.layers[1]), 12 * 3 * 2);
  const auto bytes = SerializeNetwork(n);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto read = ParseNetwork(*bytes, "n");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->layers[0].begin, n.layers[0].begin);
  EXPECT_EQ(read->layers[0].window.stride_w, 2);
  EXPECT_EQ(read->layers[1].weights, n.layers[1].weights);
}

TEST(RunNetwork, RefusesPartsOutsideAndSumsThatAreRead) {
  Network n = PartAndSums();
  n.layers[0].begin[1] = 2;
  EXPECT_THAT(std::string(Validate(n).message()),
              HasSubstr("a slice from 2 to 4 of 4 by 2"));
  n = PartAndSums();
  n.layers[1].bias = {1, 2, 3};
  EXPECT_THAT(std::string(Validate(n).message()),
              HasSubstr("3 biases and 0 multipliers instead of 0"));
  n = PartAndSums();
  n.outputs = {1};
  EXPECT_THAT(std::string(Validate(n).message()),
              HasSubstr("sums that are no output"));
  n = PartAndSums();
  Beside(n, {2}, {"more", 3, 4, 12, 1, 0});
  EXPECT_THAT(std::string(Validate(n).message()),
              HasSubstr("input 'sums' is sums"));
}

TEST(RunNetwork, RunsEveryOperation) {
  const Network network = SampleNetwork();
  golden::TensorI8 input(2, 6, 5, 2);
  for (size_t i = 0; i < input.data().size(); ++i) {
    input.data()[i] = static_cast<int8_t>(i * 37 % 256 - 128);
  }
  const auto outputs = golden::RunNetwork(network, input);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ASSERT_EQ(outputs->size(), 5u);
  const std::vector<golden::TensorI8>& y = *outputs;
  EXPECT_EQ(y[1].shape(), "2x3x3x3");
  EXPECT_EQ(y[4].shape(), "2x1x1x4");
  for (int c = 0; c < 3; ++c) {
    const int taps[] = {y[0].at(1, 2, 2, c), y[0].at(1, 2, 3, c),
                        y[0].at(1, 3, 2, c), y[0].at(1, 3, 3, c)};
    const int sum = taps[0] + taps[1] + taps[2] + taps[3];
    EXPECT_EQ(y[1].at(1, 1, 1, c), *std::max_element(taps, taps + 4));
    EXPECT_EQ(y[2].at(1, 1, 1, c), (sum + (sum > 0 ? 2 : -2)) / 4);
    // Both scaled by 1/2, the sum by 2^-18 of 2^20: a + b + 20 shares of 1.
    const int sides = y[1].at(1, 1, 1, c) + y[2].at(1, 1, 1, c) + 20;
    EXPECT_EQ(y[3].at(1, 1, 1, c), std::min(127, sides * 2 + 16));
  }
}

}  // namespace
}  // namespace systole::model
