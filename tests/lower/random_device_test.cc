// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random small graphs, compiled and run on a device, then the host's operators:
// the output is that of the golden interpreter, bit for bit.
//   --backend=iss|rtl --preset=nano --cases=N --seed=S
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "host/ir/evaluate.h"
#include "host/ir/pass.h"
#include "host/ir/text.h"
#include "host/lower/lowering.h"
#include "host/tools/checker.h"
#include "systole/compiler.h"
#include "systole/device.h"
#include "tests/ir/random_module.h"
#include "verif/golden/interpreter.h"

namespace systole::lower {
namespace {

using ir::Op;

std::string g_backend = "iss";
std::string g_preset = "nano";
int g_cases = 300;
int g_seed = 1;

// A graph with one output, of operations that can lie before the host's.
std::unique_ptr<ir::Module> Graph(uint64_t seed) {
  ir::RandomModuleOptions options;
  options.one_image = true;
  options.operations = 1 + static_cast<int>(seed % 7);
  options.max_channels = 20;
  options.max_elements = 2000;
  options.operators = {
      Op::kConv2D,        Op::kConv2D, Op::kConv2D,      Op::kDepthwiseConv2D,
      Op::kAdd,           Op::kAdd,    Op::kAveragePool, Op::kMaxPool,
      Op::kRelu,          Op::kPad,    Op::kReshape,     Op::kFullyConnected,
      Op::kFullyConnected};
  if (seed % 2 == 0) {  // what the host has to do is only possible at the end
    for (Op op : {Op::kSoftmax, Op::kLogistic, Op::kMul, Op::kMean}) {
      options.operators.push_back(op);
    }
  }
  auto module = ir::RandomModule(seed, options);
  module->outputs.erase(module->outputs.begin(), module->outputs.end() - 1);
  module->RemoveUnused();
  return module;
}

void RunCase(const ir::Module& module, const Lowered& lowered, uint64_t seed,
             Device& device) {
  const Preset& preset = *FindPreset(g_preset);
  compiler::Options options;
  options.keep_intermediates = seed % 2 == 0;
  const auto program =
      compiler::CompileNetwork(lowered.network, preset, options);
  ASSERT_TRUE(program.ok()) << program.status() << "\n" << ir::Print(module);
  const std::vector<ir::Literal> inputs = ir::RandomInputs(module, seed);
  const std::vector<int8_t>& input = inputs[0].values<int8_t>();
  const auto layers = tools::GoldenTensors(lowered.network, input, false);
  ASSERT_TRUE(layers.ok()) << layers.status();
  const auto run =
      tools::RunChecked(device, *program, lowered.network, input, *layers);
  ASSERT_TRUE(run.ok()) << run.status();
  for (const std::string& mismatch : run->mismatches()) {
    ADD_FAILURE() << mismatch << "\n" << ir::Print(module);
  }
  const auto outputs = ir::EvaluateModule(
      *lowered.host, {ir::Literal(std::vector<int8_t>(run->output.begin(),
                                                      run->output.end()))});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  const auto expected = golden::RunModule(module, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_EQ(outputs->at(0), expected->at(0)) << ir::Print(module);
}

TEST(RandomGraphs, GoldenEqualsDevice) {
  DeviceOptions device_options;
  device_options.preset = g_preset;
  device_options.check_races = g_backend == "iss";
  auto device = Device::Open(g_backend, device_options);
  ASSERT_TRUE(device.ok()) << device.status();
  std::map<std::string, int> units, refused;
  int done = 0;
  for (uint64_t seed = g_seed; done < g_cases; ++seed) {
    ASSERT_LT(seed, static_cast<uint64_t>(g_seed + 20 * g_cases))
        << "nearly all are refused";
    const auto original = Graph(seed);
    const auto module = original->Clone();
    ASSERT_EQ(ir::StandardPasses().Run(*module), absl::OkStatus());
    const auto lowered = LowerModule(*module);
    if (!lowered.ok()) {
      ASSERT_EQ(lowered.status().code(), absl::StatusCode::kUnimplemented)
          << lowered.status();
      ++refused[std::string(lowered.status().message()).substr(0, 40)];
      continue;
    }
    SCOPED_TRACE(testing::Message()
                 << "--backend=" << g_backend << " --preset=" << g_preset
                 << " --seed=" << seed << " --cases=1");
    RunCase(*original, *lowered, seed, **device);
    if (HasFatalFailure()) return;
    for (const Placement& p : lowered->placements) {
      ++units[p.op + " on " + p.unit];
    }
    ++done;
  }
  for (const auto& [unit, count] : units) {
    std::printf("%6d %s\n", count, unit.c_str());
  }
  if (g_cases < 200) return;
  for (const char* unit :
       {"conv2d on array", "depthwise_conv2d on array",
        "fully_connected on array", "add on vector unit",
        "average_pool on vector unit", "max_pool on vector unit",
        "softmax on host", "logistic on host", "mean on host", "mul on host",
        "relu on host", "reshape on nowhere"}) {
    EXPECT_GE(units[unit], 5) << unit;
  }
}

}  // namespace
}  // namespace systole::lower

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    absl::string_view arg = argv[i];
    if (absl::ConsumePrefix(&arg, "--backend=")) {
      systole::lower::g_backend = std::string(arg);
    } else if (absl::ConsumePrefix(&arg, "--preset=")) {
      systole::lower::g_preset = std::string(arg);
    } else if (absl::ConsumePrefix(&arg, "--cases=") &&
               absl::SimpleAtoi(arg, &systole::lower::g_cases)) {
    } else if (absl::ConsumePrefix(&arg, "--seed=") &&
               absl::SimpleAtoi(arg, &systole::lower::g_seed)) {
    } else {
      std::fprintf(stderr, "unknown argument %s\n", argv[i]);
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
