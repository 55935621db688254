// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The same programs on the Verilated core and on another engine: every byte of
// the results, every counter and the cycle of every completion are equal; the
// results are those of the golden model or the instruction-set simulator.
//   --engine=cxxrtl --preset=nano|mini --cases=N --items=N --images=N --seed=S

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "host/runtime/client.h"
#include "host/runtime/whole_program.h"
#include "host/tools/checker.h"
#include "host/tools/digits.h"
#include "host/tools/module_file.h"
#include "systole/compiler.h"
#include "systole/device.h"
#include "tests/compiler/random_case.h"
#include "tests/testing/options.h"
#include "tests/testing/seeds.h"
#include "tests/vpu/random_core_program.h"

namespace systole {
namespace {

std::string g_engine = "cxxrtl", g_preset = "nano";
int g_images = 1, g_items = 20;  // items of a random program
constexpr int kCases = 10;
constexpr int64_t kWork = 30000;  // products of a random case, about

struct Result {
  std::vector<uint8_t> bytes;
  RunStats stats;
};

DeviceOptions OptionsOf(const std::string& engine, uint64_t seed) {
  DeviceOptions options;
  options.preset = g_preset;
  options.simulation.engine = engine;
  options.simulation.seed = seed;
  // Of mini there is only the model with random initial values.
  options.simulation.checked = engine == "verilator" && g_preset == "mini";
  return options;
}

absl::StatusOr<std::unique_ptr<Device>> Open(const std::string& engine,
                                             uint64_t seed) {
  return Device::Open("rtl", OptionsOf(engine, seed));
}

std::string Differences(const Result& want, const Result& got) {
  std::string text;
  const auto add = [&text](const std::string& what, uint64_t a, uint64_t b) {
    if (a != b) absl::StrAppendFormat(&text, "%s: %d, %d\n", what, a, b);
  };
  add("bytes of results", want.bytes.size(), got.bytes.size());
  const size_t bytes = std::min(want.bytes.size(), got.bytes.size());
  const auto at = std::mismatch(want.bytes.begin(), want.bytes.begin() + bytes,
                                got.bytes.begin());
  if (at.first != want.bytes.begin() + bytes)
    add(absl::StrFormat("byte %d", at.first - want.bytes.begin()), *at.first,
        *at.second);
  add("cycles", want.stats.cycles, got.stats.cycles);
  for (int i = 0; i < csr::kNumCounters; ++i)
    add(std::string(csr::kCounterNames[i]), want.stats.counters[i],
        got.stats.counters[i]);
  add("completions", want.stats.retires.size(), got.stats.retires.size());
  const size_t retires =
      std::min(want.stats.retires.size(), got.stats.retires.size());
  for (size_t i = 0; i < retires && text.empty(); ++i) {
    const Retire &a = want.stats.retires[i], &b = got.stats.retires[i];
    const std::string name = absl::StrFormat("completion %d: ", i);
    add(name + "queue", static_cast<int>(a.queue), static_cast<int>(b.queue));
    add(name + "descriptor", a.index, b.index);
    add(name + "cycle", a.cycle, b.cycle);
  }
  return text;
}

void PrintSpeed(const char* what, const std::string& engine, uint64_t cycles,
                double seconds) {
  std::printf("%s on %s, %s: %d cycles, %.2f s, %.0f cycles a second\n", what,
              g_preset.c_str(), engine.c_str(), static_cast<int>(cycles),
              seconds, static_cast<double>(cycles) / seconds);
}

// A checked run of a network, its outputs one after the other.
absl::StatusOr<Result> RunNetwork(
    Device& device, const Program& program, const model::Network& network,
    const std::vector<int8_t>& input,
    const std::vector<tools::ExpectedTensor>& expected) {
  auto run = tools::RunChecked(device, program, network, input, expected);
  if (!run.ok()) return run.status();
  if (!run->mismatches().empty())
    return absl::DataLossError(run->mismatches()[0]);
  Result result;
  for (const std::vector<uint8_t>& output : run->outputs)
    result.bytes.insert(result.bytes.end(), output.begin(), output.end());
  result.stats = std::move(run->stats);
  return result;
}

TEST(Engines, RandomNetworks) {
  const Preset& preset = *FindPreset(g_preset);
  if (preset.cell != Cell::kInt8) GTEST_SKIP() << "another cell";
  double seconds = 0;
  uint64_t cycles = 0;
  for (const uint64_t seed : testing_options::Seeds(kCases)) {
    const RandomCase c = MakeRandomCase(seed, preset, kWork);
    SCOPED_TRACE(absl::StrFormat("seed %d:%s", seed, c.description));
    const absl::StatusOr<Program> program = CompileCase(c, preset);
    // A pretended buffer may be too small for the layer's smallest tile.
    if (absl::IsResourceExhausted(program.status())) continue;
    ASSERT_TRUE(program.ok()) << program.status();
    const auto expected = tools::GoldenTensors(c.network, c.input, c.raw);
    ASSERT_TRUE(expected.ok()) << expected.status();
    std::vector<Result> results;
    for (const std::string& engine : {std::string("verilator"), g_engine}) {
      auto device = Open(engine, seed);
      ASSERT_TRUE(device.ok()) << device.status();
      auto result =
          RunNetwork(**device, *program, c.network, c.input, *expected);
      ASSERT_TRUE(result.ok()) << engine << ": " << result.status();
      results.push_back(*std::move(result));
    }
    ASSERT_EQ(Differences(results[0], results[1]), "");
    cycles += results[1].stats.cycles;
    seconds += results[1].stats.host_cpu_seconds;
  }
  PrintSpeed("random networks", g_engine, cycles, seconds);
}

absl::StatusOr<Result> RunProgram(Device& device, const vpu::CoreProgram& p) {
  Result result;
  result.bytes.resize(p.result_end - p.result_begin);
  if (absl::Status s = device.Write(p.result_begin, result.bytes); !s.ok())
    return s;
  auto stats = device.Run(p.program);
  if (!stats.ok()) return stats.status();
  result.stats = *std::move(stats);
  if (absl::Status s =
          device.Read(p.result_begin, absl::MakeSpan(result.bytes));
      !s.ok())
    return s;
  return result;
}

TEST(Engines, RandomPrograms) {
  const Preset& preset = *FindPreset(g_preset);
  if (preset.cell == Cell::kInt8) GTEST_SKIP() << "another cell";
  double seconds = 0;
  uint64_t cycles = 0;
  for (const uint64_t seed : testing_options::Seeds(kCases)) {
    SCOPED_TRACE(absl::StrFormat("seed %d", seed));
    const auto p = vpu::MakeRandomCoreProgram(preset, seed, g_items);
    ASSERT_TRUE(p.ok()) << p.status();
    DeviceOptions options;
    options.preset = g_preset;
    options.simulation.seed = seed + 1000;
    auto simulator = Device::Open("iss", options);
    ASSERT_TRUE(simulator.ok()) << simulator.status();
    const auto expected = RunProgram(**simulator, *p);
    ASSERT_TRUE(expected.ok()) << expected.status();
    std::vector<Result> results;
    for (const std::string& engine : {std::string("verilator"), g_engine}) {
      auto device = Open(engine, seed);
      ASSERT_TRUE(device.ok()) << device.status();
      auto result = RunProgram(**device, *p);
      ASSERT_TRUE(result.ok()) << engine << ": " << result.status();
      ASSERT_EQ(result->bytes, expected->bytes) << engine;
      results.push_back(*std::move(result));
    }
    ASSERT_EQ(Differences(results[0], results[1]), "");
    cycles += results[1].stats.cycles;
    seconds += results[1].stats.host_cpu_seconds;
  }
  PrintSpeed("random programs", g_engine, cycles, seconds);
}

TEST(Engines, DigitsNetwork) {
  const Preset& preset = *FindPreset(g_preset);
  if (preset.cell != Cell::kInt8) GTEST_SKIP() << "another cell";
  const auto network = model::ReadNetwork("models/mnist_cnn.safetensors");
  ASSERT_TRUE(network.ok()) << network.status();
  const auto digits = tools::ReadDigits("tests/data/mnist");
  ASSERT_TRUE(digits.ok()) << digits.status();
  compiler::Options options;
  options.keep_intermediates = true;
  const auto program = compiler::CompileNetwork(*network, preset, options);
  ASSERT_TRUE(program.ok()) << program.status();
  std::vector<std::unique_ptr<Device>> devices;
  const std::vector<std::string> engines = {"verilator", g_engine};
  for (const std::string& engine : engines) {
    auto device = Open(engine, testing_options::FirstSeed());
    ASSERT_TRUE(device.ok()) << device.status();
    devices.push_back(*std::move(device));
  }
  double seconds = 0;
  uint64_t cycles = 0;
  for (int image = 0; image < g_images; ++image) {
    SCOPED_TRACE(absl::StrFormat("image %d", image));
    const std::vector<int8_t> input = digits->Quantised(image, 1);
    const auto expected = tools::GoldenTensors(*network, input, /*raw=*/false);
    ASSERT_TRUE(expected.ok()) << expected.status();
    std::vector<Result> results;
    for (size_t i = 0; i < engines.size(); ++i) {
      auto result =
          RunNetwork(*devices[i], *program, *network, input, *expected);
      ASSERT_TRUE(result.ok()) << engines[i] << ": " << result.status();
      results.push_back(*std::move(result));
    }
    ASSERT_EQ(Differences(results[0], results[1]), "");
    cycles += results[1].stats.cycles;
    seconds += results[1].stats.host_cpu_seconds;
  }
  if (g_images > 0) PrintSpeed("digits", g_engine, cycles, seconds);
}

// A step of training of a small perceptron as JAX exported it: forward, loss,
// backward, optimiser.
TEST(Engines, TrainingStep) {
  const Preset& preset = *FindPreset(g_preset);
  if (preset.cell == Cell::kInt8 || g_images == 0) GTEST_SKIP();
  const std::string file = "tests/data/stablehlo/mlp_sgd.mlirbc";
  auto module = tools::ReadModuleFile(file, tools::ModuleKind::kStableHlo, {});
  ASSERT_TRUE(module.ok()) << module.status();
  const auto program = runtime::WholeProgram::Of(*std::move(module));
  const uint64_t seed = testing_options::FirstSeed();
  std::vector<ir::Literal> inputs;
  for (const ir::Type& type : program.input_types)
    inputs.push_back(tools::RandomOf(type, seed + inputs.size()));
  std::vector<std::vector<ir::Literal>> outputs;
  std::vector<Result> results;
  for (const std::string& engine :
       {std::string("iss"), std::string("verilator"), g_engine}) {
    runtime::ClientOptions options;
    options.preset = g_preset;
    options.backend = engine == "iss" ? "iss" : "rtl";
    if (engine != "iss") options.device = OptionsOf(engine, seed);
    auto client = runtime::Client::Create(options);
    ASSERT_TRUE(client.ok()) << client.status();
    auto executable = (*client)->Compile(program.DeviceModule());
    ASSERT_TRUE(executable.ok()) << executable.status();
    auto values = runtime::RunOnce(program, **executable, **client, inputs);
    ASSERT_TRUE(values.ok()) << values.status();
    outputs.push_back(*std::move(values));
    ASSERT_TRUE(outputs.back() == outputs[0]) << engine;
    const runtime::CoreWork work = (*client)->device(0).TakeWork();
    EXPECT_GT(work.programs, 0);
    results.push_back({{}, work.stats});
  }
  EXPECT_FALSE(outputs[0][0] == inputs[0]);
  ASSERT_EQ(Differences(results[1], results[2]), "");
  PrintSpeed("a training step", g_engine, results[2].stats.cycles,
             results[2].stats.host_cpu_seconds);
}

absl::StatusOr<Result> RunRandom(uint64_t seed) {
  const Preset& preset = *FindPreset(g_preset);
  auto device = Open(g_engine, testing_options::FirstSeed());
  if (!device.ok()) return device.status();
  if (preset.cell == Cell::kInt8) {
    const RandomCase c = MakeRandomCase(seed, preset, kWork);
    const absl::StatusOr<Program> program = CompileCase(c, preset);
    if (!program.ok()) return program.status();
    const auto expected = tools::GoldenTensors(c.network, c.input, c.raw);
    if (!expected.ok()) return expected.status();
    return RunNetwork(**device, *program, c.network, c.input, *expected);
  }
  const auto p = vpu::MakeRandomCoreProgram(preset, seed, g_items);
  if (!p.ok()) return p.status();
  return RunProgram(**device, *p);
}

// Another program gives other bytes in another time.
TEST(Engines, TheComparisonSeesDifferences) {
  std::vector<Result> results;
  for (uint64_t seed : {1, 2}) {
    auto result = RunRandom(seed);
    ASSERT_TRUE(result.ok()) << result.status();
    results.push_back(*std::move(result));
  }
  EXPECT_EQ(Differences(results[0], results[0]), "");
  EXPECT_NE(Differences(results[0], results[1]).find("cycles: "),
            std::string::npos);
  Result changed = results[0];
  changed.bytes.back() ^= 1;
  EXPECT_NE(Differences(results[0], changed).find("byte "), std::string::npos);
  changed = results[0];
  ++changed.stats.retires.back().cycle;
  EXPECT_NE(Differences(results[0], changed).find("completion "),
            std::string::npos);
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(argc, argv,
                                            {{"engine", &systole::g_engine},
                                             {"preset", &systole::g_preset},
                                             {"items", &systole::g_items},
                                             {"images", &systole::g_images}});
}
