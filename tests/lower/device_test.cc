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
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "host/import/tflite_importer.h"
#include "host/ir/evaluate.h"
#include "host/ir/pass.h"
#include "host/lower/lowering.h"
#include "host/tools/checker.h"
#include "systole/compiler.h"
#include "tests/import/reference.h"

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
  const auto module = import::ReadTflite(path);
  ASSERT_TRUE(module.ok()) << module.status();
  ASSERT_EQ(ir::StandardPasses().Run(**module), absl::OkStatus());
  const auto lowered = LowerModule(**module);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const Preset& preset = *FindPreset(g_preset);
  compiler::Options options;
  options.keep_intermediates = g_keep;
  const auto program =
      compiler::CompileNetwork(lowered->network, preset, options);
  ASSERT_TRUE(program.ok()) << program.status();
  const double compile_seconds = Seconds(start);

  DeviceOptions device_options;
  device_options.preset = g_preset;
  device_options.check_races = g_backend == "iss";
  auto device = Device::Open(g_backend, device_options);
  ASSERT_TRUE(device.ok()) << device.status();
  const nlohmann::json rows = import::Reference(GetParam()).at("outputs");
  int64_t cycles = 0;
  for (int i = 0; i < g_inputs; ++i) {
    const nlohmann::json& row = rows.at(i);
    const std::vector<int8_t> input = import::SeededValues(
        row.at("seed"), (*module)->inputs()[0]->type.elements());
    const auto expected = tools::GoldenTensors(lowered->network, input, false);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const auto run = tools::RunChecked(**device, *program, lowered->network,
                                       input, *expected);
    ASSERT_TRUE(run.ok()) << run.status();
    for (const std::string& mismatch : run->mismatches()) {
      ADD_FAILURE() << mismatch;
    }
    cycles = run->stats.cycles;
    const std::vector<uint8_t>& bytes = run->output;
    const auto outputs = ir::EvaluateModule(
        *lowered->host,
        {ir::Literal(std::vector<int8_t>(bytes.begin(), bytes.end()))});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(import::CrcText(import::Crc32(outputs->at(0).Bytes())),
              row.at("crc32").get<std::string>());
  }
  int64_t ideal = 0;
  for (const LayerInfo& layer : program->layers) ideal += layer.ideal_cycles;
  std::printf(
      "%s on %s: compiled in %.2f s; cycles: %d ideal, %d expected, %d on %s\n",
      GetParam(), g_preset.c_str(), compile_seconds, static_cast<int>(ideal),
      static_cast<int>(compiler::EstimateCycles(*program, preset)),
      static_cast<int>(cycles), g_backend.c_str());
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
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    absl::string_view arg = argv[i];
    if (absl::ConsumePrefix(&arg, "--backend=")) {
      systole::lower::g_backend = std::string(arg);
    } else if (absl::ConsumePrefix(&arg, "--preset=")) {
      systole::lower::g_preset = std::string(arg);
    } else if (arg == "--keep=no") {
      systole::lower::g_keep = false;
    } else if (!absl::ConsumePrefix(&arg, "--inputs=") ||
               !absl::SimpleAtoi(arg, &systole::lower::g_inputs)) {
      std::fprintf(stderr, "unknown argument %s\n", argv[i]);
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
