// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A matrix product and convolutions that use the whole array of a preset,
// partly filled tiles included, against the golden model.  --preset=edge|v1
// --backend=iss|rtl
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "host/tools/checker.h"
#include "host/tools/workload.h"
#include "systole/device.h"
#include "tests/testing/options.h"

namespace systole {
namespace {

std::string g_backend = "iss";
std::string g_preset = "edge";

void Check(const Program& program, const model::Network& network, int64_t batch,
           bool raw) {
  std::mt19937_64 rng(11);
  const std::vector<int8_t> input =
      tools::RandomInt8(batch * network.input().size(), rng);
  const auto expected = tools::GoldenTensors(network, input, raw);
  ASSERT_TRUE(expected.ok()) << expected.status();
  DeviceOptions options;
  options.preset = g_preset;
  options.simulation.check_races = true;
  auto device = Device::Open(g_backend, options);
  ASSERT_TRUE(device.ok()) << device.status();
  const auto run =
      tools::RunChecked(**device, program, network, input, *expected);
  ASSERT_TRUE(run.ok()) << run.status();
  for (const std::string& mismatch : run->mismatches()) {
    ADD_FAILURE() << mismatch;
  }
  EXPECT_TRUE(run->layers.back().bit_exact.value_or(false));
  std::printf("%s: %d cycles\n", program.layers[0].shape.c_str(),
              static_cast<int>(run->stats.cycles));
}

TEST(PresetTest, Matmul) {
  const Preset& preset = *FindPreset(g_preset);
  for (const bool raw : {false, true}) {
    const compiler::MatmulSpec spec = tools::RandomMatmul(
        300, 2 * preset.rows + 40, preset.cols + 30, raw, 5);
    const auto program = compiler::CompileMatmul(spec, preset, {});
    ASSERT_TRUE(program.ok()) << program.status();
    Check(*program, compiler::MatmulNetwork(spec), 1, raw);
  }
}

// A core of fewer segments than descriptors have refuses rows in the others.
TEST(PresetTest, ASegmentThatTheCoreHasNotIsIllegal) {
  const Preset& preset = *FindPreset(g_preset);
  if (preset.segments == 4) GTEST_SKIP() << "all that a descriptor has";
  const auto program = compiler::CompileMatmul(
      tools::RandomMatmul(8, preset.rows, preset.cols, false, 5), preset, {});
  ASSERT_TRUE(program.ok()) << program.status();
  DeviceOptions options;
  options.preset = g_preset;
  auto device = Device::Open(g_backend, options);
  ASSERT_TRUE(device.ok()) << device.status();
  for (int64_t s = 1; s < 4; ++s) {
    Program changed = *program;
    for (isa::Descriptor& d : changed.descriptors) {
      if (static_cast<isa::Opcode>(d[0] % 256) != isa::Opcode::kMatmul)
        continue;
      isa::Matmul m = isa::Matmul::Decode(d);
      ASSERT_GT(m.seg_len[0], 1u);
      --m.seg_len[0];
      m.seg_len[s] = 1;
      d = m.Encode();
    }
    const auto stats = (*device)->Run(changed);
    if (s < preset.segments) {
      EXPECT_TRUE(stats.ok()) << stats.status();
    } else {
      EXPECT_THAT(std::string(stats.status().message()),
                  testing::HasSubstr("illegal_descriptor"))
          << s;
    }
    ASSERT_TRUE((*device)->Reset(ResetScope::kCore).ok());
  }
}

TEST(PresetTest, Convolution) {
  const Preset& preset = *FindPreset(g_preset);
  tools::ConvSpec wide, narrow;
  wide.name = "wide";
  wide.width = wide.height = 14;
  wide.channels = static_cast<int>(preset.rows / 2 + 8);
  wide.kernel_w = wide.kernel_h = 3;
  wide.filters = static_cast<int>(preset.cols + 16);
  narrow.name = "narrow";
  narrow.width = narrow.height = 28;
  narrow.channels = 3;
  narrow.kernel_w = narrow.kernel_h = 7;
  narrow.filters = static_cast<int>(preset.cols);
  narrow.stride = 2;
  for (const tools::ConvSpec& spec : {wide, narrow}) {
    const model::Network network = tools::ConvNetwork(spec, 6);
    const auto program =
        compiler::CompileNetwork(network, preset, {.batch = 2});
    ASSERT_TRUE(program.ok()) << program.status();
    Check(*program, network, 2, false);
  }
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(
      argc, argv,
      {{"backend", &systole::g_backend}, {"preset", &systole::g_preset}});
}
