// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The digits network whole, every layer bit for bit, at any preset of int8.
//   --backend=iss|rtl --preset=P --images=N
#include "host/tools/digits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "host/tools/checker.h"
#include "systole/compiler.h"
#include "systole/device.h"
#include "systole/model.h"
#include "tests/testing/options.h"

namespace systole {
namespace {

std::string g_backend = "iss";
std::string g_preset = "board8";
int g_images = 32;

TEST(Digits, EveryLayerBitExactEveryDigitRight) {
  const Preset& preset = *FindPreset(g_preset);
  const auto network =
      model::ReadNetwork(SYSTOLE_SOURCE_DIR "/models/mnist_cnn.safetensors");
  ASSERT_TRUE(network.ok()) << network.status();
  const auto digits = tools::ReadDigits(SYSTOLE_SOURCE_DIR "/tests/data/mnist");
  ASSERT_TRUE(digits.ok()) << digits.status();
  const auto program = compiler::CompileNetwork(
      *network, preset, {.batch = g_images, .keep_intermediates = true});
  ASSERT_TRUE(program.ok()) << program.status();
  const std::vector<int8_t> input = digits->Quantised(0, g_images);
  const auto expected = tools::GoldenTensors(*network, input, false);
  ASSERT_TRUE(expected.ok()) << expected.status();
  DeviceOptions options;
  options.preset = g_preset;
  options.simulation.check_races = true;
  const auto device = Device::Open(g_backend, options);
  ASSERT_TRUE(device.ok()) << device.status();
  const auto run =
      tools::RunChecked(**device, *program, *network, input, *expected);
  ASSERT_TRUE(run.ok()) << run.status();
  for (const tools::LayerRun& layer : run->layers)
    EXPECT_TRUE(layer.bit_exact.value_or(false)) << layer.mismatch;
  int right = 0;
  for (int i = 0; i < g_images; ++i) {
    const auto* scores =
        reinterpret_cast<const int8_t*>(&run->output()[10 * i]);
    right +=
        std::max_element(scores, scores + 10) - scores == digits->labels[i];
  }
  EXPECT_EQ(right, g_images);
  const RunStats& stats = run->stats;
  std::printf("%s on %s: %d of %d digits\n", g_preset.c_str(),
              g_backend.c_str(), right, g_images);
  if (stats.cycles != 0) {
    std::printf(
        "%.0f cycles, vectors enter the array in %.1f %% of them\n",
        static_cast<double>(stats.cycles),
        100.0 * static_cast<double>(stats.counter(csr::Counter::kMxuVectors)) /
            static_cast<double>(stats.cycles));
  }
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(argc, argv,
                                            {{"backend", &systole::g_backend},
                                             {"preset", &systole::g_preset},
                                             {"images", &systole::g_images}});
}
