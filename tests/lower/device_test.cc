// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Whole models on a device: compiled for a preset, every layer compared with
// the golden model, and the model's output with what the reference kernels of
// TensorFlow Lite give.  --preset=nano|edge|v1 --backend=iss|rtl --inputs=N
// --keep=no: intermediate tensors stay in the unified buffer where they can.
#include "systole/device.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <string>

#include "host/runtime/build.h"
#include "host/runtime/runner.h"
#include "host/tools/model_check.h"
#include "systole/compiler.h"
#include "tests/import/reference.h"
#include "tests/testing/options.h"

namespace systole::lower {
namespace {

std::string g_backend = "iss";
std::string g_preset = "edge";
int g_inputs = 4;
bool g_keep = true;  // every layer's output goes to HBM

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since)
      .count();
}

class DeviceTest : public testing::TestWithParam<const char*> {};

TEST_P(DeviceTest, EqualsReferenceKernels) {
  const std::string path = import::ModelPath(GetParam());
  if (path.empty()) GTEST_SKIP() << GetParam() << " is not there";
  const auto start = std::chrono::steady_clock::now();
  const auto source = runtime::ReadSource(path);
  ASSERT_TRUE(source.ok()) << source.status();
  const Preset& preset = *FindPreset(g_preset);
  compiler::Options options;
  options.keep_intermediates = g_keep;
  const auto model = runtime::Build(*source, preset, options);
  ASSERT_TRUE(model.ok()) << model.status();
  const double compile_seconds = Seconds(start);
  EXPECT_LT(compile_seconds, 2);

  DeviceOptions device_options;
  device_options.preset = g_preset;
  device_options.simulation.check_races = g_backend == "iss";
  auto device = Device::Open(g_backend, device_options);
  ASSERT_TRUE(device.ok()) << device.status();
  runtime::Runner runner(**device, *model);
  tools::ModelCheck check(*source);
  const nlohmann::json rows = import::Reference(GetParam()).at("outputs");
  int64_t cycles = 0;
  for (int i = 0; i < g_inputs; ++i) {
    const nlohmann::json& row = rows.at(i);
    const std::vector<ir::Literal> inputs = {ir::Literal(import::SeededValues(
        row.at("seed"), model->inputs()[0]->type.elements()))};
    const auto run = runner.Run(inputs);
    ASSERT_TRUE(run.ok()) << run.status();
    cycles = static_cast<int64_t>(run->stats.cycles);
    ASSERT_EQ(check.Compare(*model, inputs, *run), absl::OkStatus());
    EXPECT_EQ(import::CrcText(import::Crc32(run->outputs[0].Bytes())),
              row.at("crc32").get<std::string>());
  }
  for (const std::string& mismatch : check.mismatches()) {
    ADD_FAILURE() << mismatch;
  }
  int64_t ideal = 0;
  int64_t expected = 0;
  for (const Program& program : model->programs) {
    for (const LayerInfo& layer : program.layers) ideal += layer.ideal_cycles;
    expected += compiler::EstimateCycles(program, preset);
  }
  std::printf(
      "%s on %s: compiled in %.2f s; cycles: %d ideal, %d expected, %d on %s\n",
      GetParam(), g_preset.c_str(), compile_seconds, static_cast<int>(ideal),
      static_cast<int>(expected), static_cast<int>(cycles), g_backend.c_str());
  if (cycles == 0 || g_preset != "edge" || g_keep) return;
  // What docs/tflite.md promises.
  const std::map<std::string, double> goals = {
      {"ic_resnet8_int8", 0.6}, {"vww_mobilenet025_96_int8", 0.4}};
  const auto goal = goals.find(GetParam());
  if (goal != goals.end()) {
    EXPECT_GE(static_cast<double>(ideal) / static_cast<double>(cycles),
              goal->second);
  }
  EXPECT_NEAR(static_cast<double>(expected) / static_cast<double>(cycles), 1,
              0.1)
      << "the cost model is off";
}

INSTANTIATE_TEST_SUITE_P(Own, DeviceTest, testing::Values("mnist_cnn"),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(MlperfTiny, DeviceTest,
                         testing::Values("ad_autoencoder_int8",
                                         "ic_resnet8_int8", "kws_dscnn_int8",
                                         "vww_mobilenet025_96_int8"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace systole::lower

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(
      argc, argv,
      {{"backend", &systole::lower::g_backend},
       {"preset", &systole::lower::g_preset},
       {"inputs", &systole::lower::g_inputs},
       {"keep", &systole::lower::g_keep}});
}
