// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Means over images of any size, at once or in pieces: the golden model's
// network against its interpreter, and on a device.
//   --backend=iss|rtl --preset=nano|all --cases=N
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/runtime/build.h"
#include "host/runtime/runner.h"
#include "host/tools/model_check.h"
#include "systole/compiler.h"
#include "systole/device.h"
#include "tests/lower/mean_case.h"
#include "tests/testing/choices.h"
#include "tests/testing/long.h"
#include "tests/testing/options.h"

namespace systole::lower {
namespace {

std::string g_backend = "iss";
std::string g_preset = "all";

TEST(Means, OfAnyShapeForEveryTarget) {
  int pieces = 0, groups = 0, once = 0, sums = 0, refused = 0;
  for (int round = 0; round < 400; ++round) {
    Draw draw(round);
    const Case k = RandomCase(draw, 300000);
    const auto module = Parsed(k.Text());
    const char* const kNames[] = {"nano", "board", "edge", "v1"};
    const Target target(*FindPreset(kNames[round % 4]));
    const auto lowered =
        LowerModule(*module, round % 5 == 0 ? nullptr : &target);
    sums += k.op == "sum";
    if (Refused(k, lowered.status())) {
      ++refused;
      continue;
    }
    ASSERT_TRUE(lowered.ok()) << lowered.status() << k.Text();
    ASSERT_EQ(lowered->placements[0].unit, "vector unit")
        << lowered->placements[0].reason << k.Text();
    const model::Network& network = lowered->networks[0];
    ASSERT_EQ(model::Validate(network), absl::OkStatus()) << k.Text();
    (network.layers.size() > 1 ? pieces : once) += 1;
    groups += network.layers.back().op == model::Op::kConcat;
    const std::vector<int8_t> values =
        k.to == "1.0" ? Balanced(k, draw) : Values(k, draw);
    ASSERT_EQ(OfNetwork(network, k, values), Want(*module, values)) << k.Text();
  }
  EXPECT_GE(pieces, 80);
  EXPECT_GE(once, 80);
  EXPECT_GE(groups, 5);
  EXPECT_GE(sums, 100);
  std::printf("%d of %d sums have no fixed-point factor\n", refused, sums);
  EXPECT_LE(refused, sums / 5);
}

// Whatever is wrong by one in a layer of the pieces shows: the result is the
// sum.
TEST(Means, FaultsShow) {
  Draw draw(1);
  const Case k{130, 140, 16, "1, 2", 3, "18200.0", "1.0"};
  const auto module = Parsed(k.Text());
  const Target nano(*FindPreset("nano"));
  const auto lowered = LowerModule(*module, &nano);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const std::vector<int8_t> balanced = Balanced(k, draw);
  const auto all = golden::RunNetwork(
      lowered->networks[0], {golden::TensorI8(1, k.h, k.w, k.c, balanced)});
  ASSERT_TRUE(all.ok()) << all.status();
  const std::vector<int8_t> right = all->back().data();
  int faults = 0;
  const auto seen = [&](const model::Network& network) {
    ++faults;
    return OfNetwork(network, k, balanced) != right;
  };
  const auto& layers = lowered->networks[0].layers;
  ASSERT_GT(layers.size(), 10u);
  for (size_t l = 0; l < layers.size(); ++l) {
    model::Network broken = lowered->networks[0];
    model::Layer& layer = broken.layers[l];
    if (layer.op == model::Op::kTable) {
      // Of a value that is there; layer l computes tensor l + 1.
      const int from = layer.inputs[0];
      layer.table[128 + (from == 0 ? balanced : (*all)[from - 1].data())[0]] +=
          1;
    } else if (layer.op == model::Op::kMean) {
      layer.requant[0].shift = 0;
    } else if (layer.op == model::Op::kDepthwise) {
      layer.bias[0] += 1;
    } else {
      continue;
    }
    EXPECT_TRUE(seen(broken)) << layer.name;
    if (layer.op != model::Op::kDepthwise) continue;
    for (size_t w = 0; w < layer.weights.size() / layer.bias.size(); w += 5) {
      layer.bias[0] -= w == 0;
      layer.weights[w] += 1;
      // A digit of 0 hides it; another channel has others.
      const bool found = seen(broken);
      layer.weights[w] -= 1;
      const size_t same = w + layer.weights.size() / layer.bias.size();
      layer.weights[same] += 1;
      EXPECT_TRUE(found || seen(broken)) << "weight " << w;
      layer.weights[same] -= 1;
    }
  }
  EXPECT_GE(faults, 20);
}

void RunOn(const Case& k, const std::string& name, int64_t batch, uint64_t seed,
           Device& device) {
  Draw draw(seed);
  const std::string text = k.Text();
  SCOPED_TRACE(name + ":\n" + text);
  const Preset& preset = *FindPreset(name);
  const auto source = runtime::SourceOf(Parsed(text), nullptr, &preset);
  if (Refused(k, source.status())) return;
  ASSERT_TRUE(source.ok()) << source.status();
  for (const Placement& p : source->lowered.placements)
    ASSERT_NE(p.unit, "host") << p.reason;
  compiler::Options options;
  options.batch = batch;
  options.keep_intermediates = seed % 3 == 0;
  const auto model = runtime::Build(*source, preset, options);
  ASSERT_TRUE(model.ok()) << model.status();
  std::vector<int8_t> values;
  for (int64_t image = 0; image < batch; ++image) {
    const auto one = k.to == "1.0" ? Balanced(k, draw) : Values(k, draw);
    values.insert(values.end(), one.begin(), one.end());
  }
  const std::vector<ir::Literal> inputs = {ir::Literal(values)};
  const auto run = runtime::Runner(device, *model).Run(inputs);
  ASSERT_TRUE(run.ok()) << run.status();
  tools::ModelCheck check(*source);
  ASSERT_EQ(check.Compare(*model, inputs, *run), absl::OkStatus());
  EXPECT_TRUE(check.mismatches().empty()) << check.mismatches()[0];
}

std::unique_ptr<Device> Open(const std::string& preset) {
  DeviceOptions options;
  options.preset = preset;
  options.simulation.check_races = g_backend == "iss";
  auto device = Device::Open(g_backend, options);
  EXPECT_TRUE(device.ok()) << device.status();
  return *std::move(device);
}

TEST(MeansOnDevice, RandomShapes) {
  const bool all = g_preset == "all";
  const std::vector<std::string> names =
      all ? std::vector<std::string>{"nano", "board8", "board", "edge"}
          : std::vector<std::string>{g_preset};
  const int cases = testing_options::Cases(40);
  for (const std::string& name : names) {
    const auto device = Open(name);
    for (const uint64_t seed :
         testing_options::Seeds(cases / static_cast<int>(names.size()))) {
      Draw draw(seed);
      const Case k = RandomCase(draw, g_backend == "iss" ? 150000 : 60000);
      RunOn(k, name, 1 + static_cast<int64_t>(seed % 2), seed, *device);
      if (HasFatalFailure()) return;
    }
  }
}

// What no core sums at once, and what its smallest buffers hold least of.
TEST(MeansOnDevice, LargeImages) {
  const Case kCases[] = {{224, 224, 16, "1, 2", -128, "50176.0", "1.0"},
                         {128, 130, 64, "1, 2", 5},
                         {1, 20000, 24, "1, 2", -3, "20000.0", "1.0"},
                         {129, 260, 3, "1", 0},
                         {30, 40, 501, "1, 2", 0},
                         {64, 300, 33, "2", 9},
                         {224, 224, 16, "1, 2", -128, "1.0", "1.0", "sum"},
                         {129, 260, 3, "1", 4, "0.5", "8.0", "sum"}};
  for (const Case& k : kCases) {
    for (const char* name : testing_options::Sized<std::vector<const char*>>(
             {"nano", "v1"}, {"nano", "edge", "v1"})) {
      RunOn(k, name, 1, 1, *Open(name));
      if (HasFatalFailure()) return;
    }
  }
}

// A graph around it: nothing goes by way of the host.
TEST(MeansOnDevice, BetweenLayers) {
  const std::string text =
      "  %x = i8[1,60,70,16]{scale=0.5} parameter(), name=\"x\"\n"
      "  %p = i8[1,60,70,16]{scale=0.5} max_pool(%x), kernel=[1, 1]\n"
      "  %m = i8[1,1,1,16]{scale=0.25} mean(%p), axes=[1, 2]\n"
      "  %y = i8[1,60,70,16]{scale=0.5} mul(%p, %m)\n"
      "  return %y as \"y\"\n";
  const Preset& nano = *FindPreset("nano");
  const auto source = runtime::SourceOf(Parsed(text), nullptr, &nano);
  ASSERT_TRUE(source.ok()) << source.status();
  for (const Placement& p : source->lowered.placements)
    EXPECT_EQ(p.unit, "vector unit") << p.node << ": " << p.reason;
  EXPECT_EQ(source->lowered.networks.size(), 1u);
  const auto model = runtime::Build(*source, nano, {});
  ASSERT_TRUE(model.ok()) << model.status();
  Draw draw(3);
  const std::vector<ir::Literal> inputs = {
      ir::Literal(Values({60, 70, 16, "1, 2"}, draw))};
  const auto device = Open("nano");
  const auto run = runtime::Runner(*device, *model).Run(inputs);
  ASSERT_TRUE(run.ok()) << run.status();
  tools::ModelCheck check(*source);
  ASSERT_EQ(check.Compare(*model, inputs, *run), absl::OkStatus());
  EXPECT_TRUE(check.mismatches().empty()) << check.mismatches()[0];
}

TEST(Means, OfAMillionPositionsOnTheSmallestCore) {
  Draw draw(5);
  const Case k{1024, 1024, 2, "1, 2", -7, "1048576.0", "1.0"};
  const auto module = Parsed(k.Text());
  const Target nano(*FindPreset("nano"));
  const auto lowered = LowerModule(*module, &nano);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const std::vector<int8_t> values = Balanced(k, draw);
  EXPECT_EQ(OfNetwork(lowered->networks[0], k, values), Want(*module, values));
  EXPECT_TRUE(
      compiler::CompileNetwork(lowered->networks[0], *FindPreset("nano"), {})
          .ok());
}

// Over channels, and over lines of more channels than a core holds: host.
TEST(Means, OnTheHost) {
  const Target nano(*FindPreset("nano"));
  const std::string channels =
      "  %x = i8[1,20,20,4]{scale=0.5} parameter(), name=\"x\"\n"
      "  %p = i8[1,20,20,4]{scale=0.5} max_pool(%x), kernel=[1, 1]\n"
      "  %y = i8[1,20,20]{scale=0.5} mean(%p), axes=[3]\n"
      "  return %y as \"y\"\n";
  const std::string wide =
      "  %x = i8[1,20,20,5001]{scale=0.5} parameter(), name=\"x\"\n"
      "  %p = i8[1,20,20,5001]{scale=0.5} max_pool(%x), kernel=[1, 1]\n"
      "  %y = i8[1,20,5001]{scale=0.5} mean(%p), axes=[1]\n"
      "  return %y as \"y\"\n";
  const std::string many =
      "  %x = i8[1,30,30,9001]{scale=0.5} parameter(), name=\"x\"\n"
      "  %p = i8[1,30,30,9001]{scale=0.5} max_pool(%x), kernel=[1, 1]\n"
      "  %y = i8[1,9001]{scale=0.5} mean(%p), axes=[1, 2]\n"
      "  return %y as \"y\"\n";
  const std::string sum =
      "  %x = i8[1,20,20,4]{scale=0.5} parameter(), name=\"x\"\n"
      "  %p = i8[1,20,20,4]{scale=0.5} max_pool(%x), kernel=[1, 1]\n"
      "  %y = i8[1,20,20]{scale=0.5} sum(%p), axes=[3]\n"
      "  return %y as \"y\"\n";
  for (const auto& [text, reason] :
       {std::make_pair(sum, "a sum over other axes than height and width"),
        std::make_pair(many, "more than 256 groups"),
        std::make_pair(channels, "over other axes than height and width"),
        std::make_pair(wide, "5001 channels, too many")}) {
    const auto lowered = LowerModule(*Parsed(text), &nano);
    ASSERT_TRUE(lowered.ok()) << lowered.status();
    EXPECT_EQ(lowered->placements.back().unit, "host");
    EXPECT_THAT(lowered->placements.back().reason, testing::HasSubstr(reason));
    EXPECT_EQ(lowered->networks[0].tensors.size(), 2u);
  }
}

}  // namespace
}  // namespace systole::lower

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(
      argc, argv,
      {{"backend", &systole::lower::g_backend},
       {"preset", &systole::lower::g_preset}});
}
