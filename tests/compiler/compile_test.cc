// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What the compiler refuses, what it reports, and the whole digits network on
// the simulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/compiler/plan.h"
#include "host/compiler/sequence.h"
#include "host/tools/checker.h"
#include "host/tools/digits.h"
#include "host/tools/workload.h"
#include "systole/compiler.h"
#include "systole/device.h"
#include "tests/testing/long.h"

namespace systole {
namespace {

using testing::HasSubstr;

model::Network Conv(int side, int channels, int kernel, int filters) {
  tools::ConvSpec spec;
  spec.name = "conv";
  spec.width = spec.height = side;
  spec.channels = channels;
  spec.kernel_w = spec.kernel_h = kernel;
  spec.filters = filters;
  return tools::ConvNetwork(spec, 1);
}

TEST(Compile, RefusesABatchOfZero) {
  const auto program = compiler::CompileNetwork(
      Conv(4, 4, 1, 4), *FindPreset("nano"), {.batch = 0});
  EXPECT_EQ(program.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(program.status().message()), HasSubstr("batch of 0"));
}

TEST(Compile, RefusesWhatDoesNotFitWithTheSizes) {
  // One window alone is 7 x 7 x 4000 bytes.
  const auto program =
      compiler::CompileNetwork(Conv(9, 4000, 7, 4), *FindPreset("nano"), {});
  EXPECT_EQ(program.status().code(), absl::StatusCode::kResourceExhausted);
  const std::string text(program.status().message());
  EXPECT_THAT(text, HasSubstr("layer conv (9x9x4000 * 7x7 -> 9x9x4)"));
  EXPECT_THAT(text, HasSubstr("nano has 65536"));
}

TEST(Compile, RefusesSumsBeyond32Bits) {
  model::Network network = Conv(4, 4, 1, 4);
  network.layers[0].bias[2] = 2147483647;
  const auto program =
      compiler::CompileNetwork(network, *FindPreset("nano"), {});
  EXPECT_EQ(program.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(program.status().message()),
              HasSubstr("layer conv: output channel 2"));
}

TEST(Compile, RefusesTooLargeAPool) {
  model::Network network = Conv(40, 4, 1, 4);
  model::Layer& layer = network.layers[0];
  layer = model::Layer{};
  layer.name = "pool";
  layer.op = model::Op::kMaxPool;
  layer.inputs = {0};
  layer.output = 1;
  layer.window.kernel_h = layer.window.kernel_w = 40;
  network.tensors[1].height = network.tensors[1].width = 1;
  network.tensors[1].zero_point = network.tensors[0].zero_point;
  const auto program =
      compiler::CompileNetwork(network, *FindPreset("nano"), {});
  EXPECT_EQ(program.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(program.status().message()),
              HasSubstr("layer pool: a pool over 40x40"));
}

TEST(Compile, RefusesAnEmptyMatmul) {
  EXPECT_EQ(compiler::CompileMatmul({}, *FindPreset("nano"), {}).ok(), false);
  compiler::MatmulSpec spec = tools::RandomMatmul(4, 4, 4, true, 1);
  spec.m = 0;
  EXPECT_EQ(
      compiler::CompileMatmul(spec, *FindPreset("nano"), {}).status().code(),
      absl::StatusCode::kInvalidArgument);
}

TEST(Compile, TheSameInputsGiveTheSameProgram) {
  const model::Network network = Conv(20, 30, 3, 40);
  const auto a =
      compiler::CompileNetwork(network, *FindPreset("edge"), {.batch = 3});
  const auto b =
      compiler::CompileNetwork(network, *FindPreset("edge"), {.batch = 3});
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(SerializeProgram(*a), SerializeProgram(*b));
}

// Plans and sequences, behind each pass, are their text and nothing else.
TEST(Compile, EveryStepCanBeReadBack) {
  const auto network =
      model::ReadNetwork(SYSTOLE_SOURCE_DIR "/models/mnist_cnn.safetensors");
  ASSERT_TRUE(network.ok()) << network.status();
  for (const char* preset : {"nano", "edge", "v1"}) {
    std::vector<std::string> steps;
    std::string last;
    compiler::Options options;
    options.batch = 3;
    options.observer = [&](const std::string& step,
                           const std::function<std::string()>& text) {
      steps.push_back(step);
      last = text();
      if (last.rfind("plan", 0) == 0) {
        const auto plan = compiler::ParsePlan(last);
        ASSERT_TRUE(plan.ok()) << plan.status();
        EXPECT_EQ(compiler::Print(*plan), last);
      } else {
        const auto sequence = compiler::ParseSequence(last);
        ASSERT_TRUE(sequence.ok()) << sequence.status();
        EXPECT_EQ(compiler::Print(*sequence), last);
      }
    };
    const auto program =
        compiler::CompileNetwork(*network, *FindPreset(preset), options);
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_THAT(steps, testing::ElementsAre(
                           "plan", "column-joining", "channel-grouping",
                           "vector-fusion", "epilogue-joining", "tiling",
                           "tile-sharing", "memory-planning", "descriptors",
                           "dependence-analysis", "scheduling", "sync-flags"));
    const auto sequence = compiler::ParseSequence(last);
    ASSERT_TRUE(sequence.ok());
    ASSERT_EQ(sequence->steps.size() + 1, program->descriptors.size());
    for (int i = 0; i < sequence->size(); ++i)
      EXPECT_EQ(sequence->steps[i].descriptor, program->descriptors[i]) << i;
  }
}

TEST(Compile, TapsInThePaddingAreLeftOut) {
  // A line of 64 positions, kernel 3 high: two of three kernel rows meet
  // padding only.
  tools::ConvSpec spec;
  spec.name = "line";
  spec.width = 64;
  spec.channels = 8;
  spec.kernel_w = 1;
  spec.kernel_h = 3;
  spec.filters = 8;
  const auto program = compiler::CompileNetwork(tools::ConvNetwork(spec, 1),
                                                *FindPreset("nano"), {});
  ASSERT_TRUE(program.ok());
  for (const isa::Descriptor& d : program->descriptors) {
    if (static_cast<isa::Opcode>(isa::GetBits(d, 0, 8)) !=
        isa::Opcode::kWeights)
      continue;
    EXPECT_EQ(isa::Weights::Decode(d).tiles, 1u);
  }
}

class DigitsNetwork : public testing::Test {
 protected:
  static constexpr const char* kModel =
      SYSTOLE_SOURCE_DIR "/models/mnist_cnn.safetensors";
  static constexpr const char* kDigits = SYSTOLE_SOURCE_DIR "/tests/data/mnist";

  // Images first..first+images-1; returns how many digits are right.
  int RunImages(const std::string& preset, int first, int images, bool races) {
    const auto network = model::ReadNetwork(kModel);
    EXPECT_TRUE(network.ok()) << network.status();
    const auto digits = tools::ReadDigits(kDigits);
    EXPECT_TRUE(digits.ok()) << digits.status();
    const auto program =
        compiler::CompileNetwork(*network, *FindPreset(preset),
                                 {.batch = images, .keep_intermediates = true});
    EXPECT_TRUE(program.ok()) << program.status();
    const std::vector<int8_t> input = digits->Quantised(first, images);
    const auto expected = tools::GoldenTensors(*network, input, false);
    EXPECT_TRUE(expected.ok()) << expected.status();
    DeviceOptions options;
    options.preset = preset;
    options.simulation.check_races = races;
    auto device = Device::Open("iss", options);
    EXPECT_TRUE(device.ok()) << device.status();
    const auto run =
        tools::RunChecked(**device, *program, *network, input, *expected);
    EXPECT_TRUE(run.ok()) << run.status();
    if (!run.ok()) return 0;
    for (const tools::LayerRun& layer : run->layers)
      EXPECT_TRUE(layer.bit_exact.value_or(false)) << layer.mismatch;
    int right = 0;
    for (int i = 0; i < images; ++i) {
      const int8_t* s = reinterpret_cast<const int8_t*>(&run->output()[10 * i]);
      right += std::max_element(s, s + 10) - s == digits->labels[first + i];
    }
    return right;
  }
};

// In the long form all of them.
TEST_F(DigitsNetwork, DigitsOnEdgeEveryLayerBitExact) {
  const int digits = testing_options::Sized(500, 2000);
  int right = 0;
  for (int first = 0; first < digits; first += 100)
    right += RunImages("edge", first, 100, /*races=*/false);
  EXPECT_GE(right, digits * 982 / 1000)
      << "float is at least 98.5 %, int8 within 0.3 points of it";
}

TEST_F(DigitsNetwork, EachPresetWithoutRaces) {
  for (const Preset& preset : kPresets) {
    if (preset.cell != Cell::kInt8) continue;
    EXPECT_GE(RunImages(std::string(preset.name), 0, 8, /*races=*/true), 7);
  }
}

}  // namespace
}  // namespace systole
