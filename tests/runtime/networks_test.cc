// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Whole networks of kinds that the project's models are not, as .tflite files:
// on every int8 core on the device, but for what is named, and to the bit what
// the golden interpreter makes of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/import/tflite_importer.h"
#include "host/runtime/build.h"
#include "host/runtime/loader.h"
#include "host/runtime/runner.h"
#include "host/tools/model_check.h"
#include "host/tools/tensor_io.h"
#include "systole/device.h"
#include "tests/import/net_builder.h"

namespace systole::runtime {
namespace {

using import::Net;
using tflite::BuiltinOperator_ADD;
using tflite::BuiltinOperator_MUL;
using tflite::BuiltinOperator_SUB;

// What channels weigh comes from their means over the whole image.
std::string SqueezeAndExcite() {
  Net n(1);
  const auto x = n.Input({1, 48, 56, 3});
  const auto a = n.Conv(x, 24, 3, 3);
  const auto squeezed = n.Mean(a, {1, 2}, true);
  const auto low = n.Conv(squeezed, 6, 1, 1);
  const auto gate = n.Sigmoid(n.Conv(low, 24, 1, 1, 1, false));
  const auto scaled = n.Pair(BuiltinOperator_MUL, a, gate, 0.03f);
  const auto b = n.Conv(scaled, 24, 3, 3, 1, false);
  const auto sum = n.Pair(BuiltinOperator_ADD, a, b);
  return n.Model(x, {n.Dense(n.Mean(sum, {1, 2}, false), 10)});
}

// Branches of other scales, brought to one and joined.
std::string Inception() {
  Net n(2);
  const auto x = n.Input({1, 21, 21, 12});
  const auto one = n.Conv(x, 8, 1, 1);
  const auto three = n.Conv(n.Conv(x, 6, 1, 1), 10, 3, 3, 1, false);
  const auto five = n.Conv(n.Conv(x, 4, 1, 1), 7, 5, 5);
  const auto pooled = n.Conv(n.Pool(x, true, 3, 1), 5, 1, 1);
  std::vector<Net::Value> parts;
  for (const auto& branch : {one, three, five, pooled})
    parts.push_back(n.Requantised(branch, 0.061f, -20));
  const auto joined = n.Concat(parts);
  const auto down = n.Conv(joined, 16, 3, 3, 2);
  const auto flat = n.Pool(down, false, 11, 11, false);
  return n.Model(x, {n.Dense(n.Reshape(flat, {1, 16}), 9, 0.3f)});
}

// Gated causal convolutions along one axis, dilated more and more; the sum of
// what each skips to the end.
std::string WaveNet() {
  Net n(3);
  const auto x = n.Input({1, 300, 8});
  auto h = n.Conv(n.Reshape(x, {1, 1, 300, 8}), 16, 1, 1, 1, false);
  std::vector<Net::Value> skips;
  for (const int dilation : {1, 2, 4, 8, 16}) {
    const auto padded = n.PadBefore(h, dilation);
    const auto filter =
        n.Tanh(n.Conv(padded, 16, 1, 2, 1, false, dilation, false));
    const auto gate =
        n.Sigmoid(n.Conv(padded, 16, 1, 2, 1, false, dilation, false));
    const auto gated = n.Pair(BuiltinOperator_MUL, filter, gate, 1.0f / 127);
    skips.push_back(n.Conv(gated, 12, 1, 1, 1, false));
    h = n.Pair(BuiltinOperator_ADD, h, n.Conv(gated, 16, 1, 1, 1, false));
  }
  auto sum = skips[0];
  for (size_t i = 1; i < skips.size(); ++i)
    sum = n.Pair(BuiltinOperator_ADD, sum, skips[i], 0.1f);
  const auto line = n.Reshape(n.Conv(sum, 20, 1, 1), {1, 300, 20});
  return n.Model(x, {n.Dense(n.Mean(line, {1}, false), 6)});
}

// Down, up by transposed convolutions, and across.
std::string UNet() {
  Net n(4);
  const auto x = n.Input({1, 32, 24, 3});
  const auto a = n.Conv(x, 8, 3, 3);
  const auto b = n.Conv(n.Pool(a, true, 2, 2), 12, 3, 3);
  const auto c = n.Conv(n.Pool(b, true, 2, 2), 20, 3, 3);
  const auto up = n.UpConv(c, 12);
  const auto across = n.Requantised(b, up.scale, up.zero);
  const auto d = n.Conv(n.Concat({up, across}), 12, 3, 3);
  const auto top = n.UpConv(d, 8);
  const auto e =
      n.Conv(n.Concat({top, n.Requantised(a, top.scale, top.zero)}), 8, 3, 3);
  return n.Model(x, {n.Sigmoid(n.Conv(e, 2, 1, 1, 1, false))});
}

// A gated recurrent unit, step after step.
std::string Gru() {
  Net n(5);
  constexpr int kUnits = 24;
  const auto x = n.Input({1, 6, 10});
  const auto zero = n.Constant({1, kUnits}, 1.0f / 128, 0, 0);
  const auto one = n.Constant({1, kUnits}, 1.0f / 256, -128, 127);
  auto h = zero;
  bool first = true;
  for (const auto& step : n.Unpack(x)) {
    const auto state = h;
    const auto gate = [&] {
      const auto in = n.Dense(step, kUnits);
      return first ? n.Sigmoid(in)
                   : n.Sigmoid(n.Pair(BuiltinOperator_ADD, in,
                                      n.Dense(state, kUnits)));
    };
    const auto update = gate(), reset = gate();
    const auto in = n.Dense(step, kUnits);
    const auto candidate =
        n.Tanh(first ? in
                     : n.Pair(BuiltinOperator_ADD, in,
                              n.Dense(n.Pair(BuiltinOperator_MUL, reset, state,
                                             1.0f / 128),
                                      kUnits)));
    const auto rest = n.Pair(BuiltinOperator_SUB, one, update, 1.0f / 255);
    const auto fresh = n.Pair(BuiltinOperator_MUL, rest, candidate, 1.0f / 120);
    h = first ? fresh
              : n.Pair(BuiltinOperator_ADD, fresh,
                       n.Pair(BuiltinOperator_MUL, update, state, 1.0f / 125),
                       1.0f / 110);
    first = false;
  }
  return n.Model(x, {n.Dense(h, 4)});
}

struct Network {
  const char* name;
  std::string (*model)();
  // What the host does of it: spreads the input of a transposed convolution.
  bool spreads = false;
};

class Networks : public testing::TestWithParam<Network> {};

std::unique_ptr<Device> Open(const char* preset) {
  DeviceOptions options;
  options.preset = preset;
  options.simulation.check_races = true;
  auto device = Device::Open("iss", options);
  EXPECT_TRUE(device.ok()) << device.status();
  return *std::move(device);
}

std::vector<ir::Literal> RandomInputs(const CompiledModel& model, int64_t batch,
                                      int seed) {
  std::vector<ir::Literal> inputs;
  for (const ir::Node* input : model.inputs())
    inputs.push_back(tools::RandomValues(input->type, batch, seed));
  return inputs;
}

void RunAndCheck(const Source& source, const CompiledModel& model,
                 Runner& runner, int64_t batch, int seed) {
  const std::vector<ir::Literal> inputs = RandomInputs(model, batch, seed);
  const auto run = runner.Run(inputs);
  ASSERT_TRUE(run.ok()) << run.status();
  tools::ModelCheck check(source);
  ASSERT_EQ(check.Compare(model, inputs, *run), absl::OkStatus());
  EXPECT_TRUE(check.mismatches().empty()) << check.mismatches()[0];
  // A result that never changes would hide much.
  const std::vector<int8_t>& values = run->outputs[0].values<int8_t>();
  EXPECT_GT(std::set<int8_t>(values.begin(), values.end()).size(), 2u);
}

TEST_P(Networks, OnTheDeviceToTheBit) {
  for (const char* preset : {"nano", "board", "edge", "v1"}) {
    SCOPED_TRACE(preset);
    auto module = import::ImportTflite(GetParam().model(), GetParam().name);
    ASSERT_TRUE(module.ok()) << module.status();
    const auto source =
        SourceOf(*std::move(module), nullptr, FindPreset(preset));
    ASSERT_TRUE(source.ok()) << source.status();
    for (const lower::Placement& p : source->lowered.placements) {
      if (p.op == "pad" && GetParam().spreads) continue;
      EXPECT_NE(p.unit, "host") << p.op << " " << p.node << ": " << p.reason;
    }
    EXPECT_EQ(RefuseHostOperators(source->lowered.placements).ok(),
              !GetParam().spreads);
    for (const int64_t batch : {1, 3}) {
      compiler::Options options;
      options.batch = batch;
      options.keep_intermediates = batch == 3;
      const auto model = Build(*source, *FindPreset(preset), options);
      ASSERT_TRUE(model.ok()) << model.status();
      const auto device = Open(preset);
      Runner runner(*device, *model);
      RunAndCheck(*source, *model, runner, batch, 7);
      if (HasFatalFailure()) return;
    }
  }
}

constexpr Network kNetworks[] = {{"squeeze_and_excite", SqueezeAndExcite},
                                 {"inception", Inception},
                                 {"wavenet", WaveNet},
                                 {"unet", UNet, true},
                                 {"gru", Gru}};

INSTANTIATE_TEST_SUITE_P(All, Networks, testing::ValuesIn(kNetworks),
                         [](const auto& info) { return info.param.name; });

// All five side by side in one memory, in turns.
TEST(NetworksTogether, SideBySideInOneDevice) {
  const auto device = Open("edge");
  Loader loader(*device);
  std::vector<Source> sources;
  std::vector<CompiledModel> models;
  for (const Network& network : kNetworks) {
    auto module = import::ImportTflite(network.model(), network.name);
    ASSERT_TRUE(module.ok()) << module.status();
    auto source = SourceOf(*std::move(module), nullptr, FindPreset("edge"));
    ASSERT_TRUE(source.ok()) << source.status();
    auto model = Build(*source, *FindPreset("edge"), {});
    ASSERT_TRUE(model.ok()) << model.status();
    sources.push_back(*std::move(source));
    models.push_back(*std::move(model));
  }
  std::vector<std::unique_ptr<Runner>> runners;
  for (const CompiledModel& model : models)
    runners.push_back(std::make_unique<Runner>(loader, model));
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < models.size(); ++i) {
      SCOPED_TRACE(kNetworks[i].name);
      RunAndCheck(sources[i], models[i], *runners[i], 1, round);
    }
  }
}

}  // namespace
}  // namespace systole::runtime
