// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random small graphs, compiled and run on a device, then the host's operators:
// the output is that of the golden interpreter, bit for bit.
//   --backend=iss|rtl --preset=nano --cases=N --seed=S
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "host/ir/text.h"
#include "host/runtime/build.h"
#include "host/runtime/runner.h"
#include "host/tools/model_check.h"
#include "systole/compiler.h"
#include "systole/device.h"
#include "tests/ir/random_module.h"
#include "tests/testing/choices.h"
#include "tests/testing/options.h"

namespace systole::lower {
namespace {

using ir::Op;

std::string g_backend = "iss";
std::string g_preset = "nano";

// A graph of operations of which most can run on the device.
std::unique_ptr<ir::Module> Graph(uint64_t seed) {
  ir::RandomModuleOptions options;
  options.one_image = true;
  options.operations = 1 + static_cast<int>(seed % 7);
  if (seed % 8 == 6) options.operations = 16;
  options.max_channels = 20;
  options.max_elements = 2000;
  options.operators = {Op::kConv2D,
                       Op::kConv2D,
                       Op::kConv2D,
                       Op::kDepthwiseConv2D,
                       Op::kAdd,
                       Op::kAdd,
                       Op::kAveragePool,
                       Op::kMaxPool,
                       Op::kRelu,
                       Op::kPad,
                       Op::kReshape,
                       Op::kFullyConnected,
                       Op::kFullyConnected,
                       Op::kSub,
                       Op::kStridedSlice};
  if (seed % 3 == 0) {  // functions of one value, products
    for (Op op : {Op::kLogistic, Op::kTanh, Op::kHardSwish, Op::kQuantize,
                  Op::kGelu, Op::kElu, Op::kLeakyRelu, Op::kMul, Op::kMul}) {
      options.operators.push_back(op);
    }
  }
  if (seed % 2 == 0) {  // what the host has to do, in any place
    for (Op op : {Op::kSoftmax, Op::kMul, Op::kMean, Op::kTranspose}) {
      options.operators.push_back(op);
    }
  }
  options.inputs = seed % 5 == 0 ? 2 : 1;
  auto module = ir::RandomModule(seed, options);
  if (seed % 3 > 0) {
    module->outputs.erase(module->outputs.begin(), module->outputs.end() - 1);
    module->RemoveUnused();
  }
  return module;
}

void RunCase(const runtime::Source& source, uint64_t seed, Device& device) {
  const Preset& preset = *FindPreset(g_preset);
  compiler::Options options;
  options.keep_intermediates = seed % 2 == 0;
  options.batch = 1 + seed % 3;
  const auto built = runtime::Build(source, preset, options);
  ASSERT_TRUE(built.ok()) << built.status();
  // As a file holds it.
  const auto model = runtime::FromProgram(runtime::ToProgram(*built), "case");
  ASSERT_TRUE(model.ok()) << model.status();
  std::vector<ir::Literal> inputs;
  for (int64_t image = 0; image < options.batch; ++image) {
    std::vector<ir::Literal> one =
        ir::RandomInputs(*source.module, seed + 1000 * image);
    for (size_t i = 0; i < one.size(); ++i) {
      if (image == 0) {
        inputs.push_back(std::move(one[i]));
      } else {
        inputs[i].Append(one[i]);
      }
    }
  }
  const auto run = runtime::Runner(device, *model).Run(inputs);
  ASSERT_TRUE(run.ok()) << run.status();
  tools::ModelCheck check(source);
  ASSERT_EQ(check.Compare(*model, inputs, *run), absl::OkStatus());
  for (const std::string& mismatch : check.mismatches()) {
    ADD_FAILURE() << mismatch;
  }
}

TEST(RandomGraphs, GoldenEqualsDevice) {
  DeviceOptions device_options;
  device_options.preset = g_preset;
  device_options.simulation.check_races = g_backend == "iss";
  auto device = Device::Open(g_backend, device_options);
  ASSERT_TRUE(device.ok()) << device.status();
  std::map<std::string, int> units, refused;
  const int cases = testing_options::Cases(300);
  int done = 0;
  for (const uint64_t seed : testing_options::Seeds(cases)) {
    auto graph = Graph(seed);
    const std::string text = ir::Print(*graph);
    double size = 1000.0 * static_cast<double>(graph->nodes().size());
    for (const auto& node : graph->nodes())
      size += static_cast<double>(node->type.elements());
    testing_options::Describe(size, text);
    const auto source = runtime::SourceOf(std::move(graph));
    if (!source.ok()) {
      ASSERT_EQ(source.status().code(), absl::StatusCode::kUnimplemented)
          << source.status();
      ++refused[std::string(source.status().message()).substr(0, 40)];
      continue;
    }
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    RunCase(*source, seed, **device);
    if (HasFatalFailure()) return;
    const Lowered& lowered = source->lowered;
    for (const Placement& p : lowered.placements) {
      ++units[p.op + " on " + p.unit];
    }
    for (const model::Network& network : lowered.networks) {
      units["several inputs"] += network.inputs.size() > 1;
      units["several outputs"] += network.outputs.size() > 1;
    }
    units["work before the device"] +=
        lowered.head().nodes().size() > lowered.head().inputs().size();
    units["several programs"] += lowered.networks.size() > 1;
    units["three programs and more"] += lowered.networks.size() > 2;
    ++done;
  }
  for (const auto& [unit, count] : units) {
    std::printf("%6d %s\n", count, unit.c_str());
  }
  EXPECT_GE(done, cases / 20) << "nearly all are refused";
  if (cases < 200) return;
  EXPECT_GE(units["three programs and more"], 2);
  EXPECT_GE(units["mul on host"], 1);
  for (const char* unit : {"conv2d on array",
                           "depthwise_conv2d on array",
                           "fully_connected on array",
                           "add on vector unit",
                           "sub on vector unit",
                           "strided_slice on vector unit",
                           "average_pool on vector unit",
                           "max_pool on vector unit",
                           "softmax on host",
                           "transpose on host",
                           "mul on vector unit",
                           "logistic on vector unit",
                           "tanh on vector unit",
                           "hard_swish on vector unit",
                           "quantize on vector unit",
                           "gelu on vector unit",
                           "elu on vector unit",
                           "leaky_relu on vector unit",
                           "relu on vector unit",
                           "reshape on nowhere",
                           "several inputs",
                           "several outputs",
                           "work before the device",
                           "several programs"}) {
    EXPECT_GE(units[unit], 4) << unit;
  }
}

// Of all pairs of int8, on the device as sums and differences that saturate.
TEST(Extrema, OfTwoTensors) {
  DeviceOptions device_options;
  device_options.preset = g_preset;
  device_options.simulation.check_races = g_backend == "iss";
  auto device = Device::Open(g_backend, device_options);
  ASSERT_TRUE(device.ok()) << device.status();
  std::vector<int8_t> a, b, highest, lowest;
  for (int i = -128; i < 128; ++i) {
    for (int j = -128; j < 128; ++j) {
      a.push_back(static_cast<int8_t>(i));
      b.push_back(static_cast<int8_t>(j));
      highest.push_back(std::max(a.back(), b.back()));
      lowest.push_back(std::min(a.back(), b.back()));
    }
  }
  for (const char* quantization :
       {"{scale=0.3, zero=-128}", "{scale=0.1, zero=-3}"}) {
    SCOPED_TRACE(quantization);
    const std::string type = absl::StrCat("i8[1,64,32,32]", quantization);
    auto module = ir::Parse(absl::StrCat(
        "module @extrema {\n  %a = ", type, " parameter(), name=\"a\"\n  %b = ",
        type, " parameter(), name=\"b\"\n  %y = ", type,
        " maximum(%a, %b)\n  %z = ", type,
        " minimum(%a, %b)\n  return %y as \"y\", %z as \"z\"\n}\n"));
    ASSERT_TRUE(module.ok()) << module.status();
    const auto source = runtime::SourceOf(*std::move(module));
    ASSERT_TRUE(source.ok()) << source.status();
    for (const Placement& p : source->lowered.placements)
      EXPECT_EQ(p.unit, "vector unit") << p.op << ": " << p.reason;
    const auto model = runtime::Build(*source, *FindPreset(g_preset), {});
    ASSERT_TRUE(model.ok()) << model.status();
    const auto run =
        runtime::Runner(**device, *model).Run({ir::Literal(a), ir::Literal(b)});
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(run->outputs[0], ir::Literal(highest));
    EXPECT_EQ(run->outputs[1], ir::Literal(lowest));
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
