// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The kernels of firmware/vpu/functions.vs on a device against the golden
// model, to the bit, over special values and random bits.
// Options: --backend=iss|rtl --preset=mini|lite|v2 --rows=n --seed=n.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/testing/options.h"
#include "tests/testing/seeds.h"
#include "tests/vpu/run_kernel.h"
#include "verif/golden/functions.h"

namespace systole {
namespace {

std::string g_backend = "iss";
std::string g_preset = "mini";
int g_rows = 1021;  // the last registers are not full

struct Case {
  const char* kernel;
  uint32_t (*golden)(uint32_t);
};

class KernelFunctions : public testing::TestWithParam<Case> {};

// Half of the arguments from the range in which exp is neither 0 nor infinite.
std::vector<uint32_t> Arguments(int64_t count) {
  std::vector<uint32_t> a = {0,          0x80000000, 0x7F800000, 0xFF800000,
                             0x7FC00000, 0xFFFFFFFF, 1,          0x80000001,
                             0x42B17217, 0x42B17218, 0x7F7FFFFF, 0xFF7FFFFF,
                             0x3F800000, 0xBF800000, 0xC2CE8ED0, 0xC2CFF1B5};
  std::mt19937_64 rng(testing_options::FirstSeed());
  while (static_cast<int64_t>(a.size()) < count) {
    a.push_back(static_cast<uint32_t>(rng()));
    const float x = std::uniform_real_distribution<float>(-106, 90)(rng);
    a.resize(a.size() + 1);
    std::memcpy(&a.back(), &x, sizeof(x));
  }
  a.resize(count);
  return a;
}

TEST_P(KernelFunctions, DeviceMatchesGolden) {
  SCOPED_TRACE("seed " + std::to_string(testing_options::FirstSeed()));
  const auto device =
      OpenStalled(g_backend, g_preset, testing_options::FirstSeed());
  ASSERT_TRUE(device.ok()) << device.status();
  const Preset& preset = (*device)->preset();
  const int64_t pitch = 4 * preset.cols, bytes = WholeBeats(g_rows * pitch);
  const std::vector<uint32_t> arguments = Arguments(bytes / 4);
  const auto got = RunKernel(
      device->get(), GetParam().kernel,
      {{"src", 0}, {"dst", bytes}, {"pitch", pitch}, {"rows", g_rows}},
      BytesOf(arguments));
  ASSERT_TRUE(got.ok()) << got.status();
  for (int64_t i = 0; i < g_rows * preset.cols; ++i) {
    ASSERT_EQ(ValueOf<uint32_t>(*got, i), GetParam().golden(arguments[i]))
        << GetParam().kernel << " of " << std::hex << arguments[i] << std::dec
        << ", row " << i / preset.cols << ", lane " << i % preset.cols;
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, KernelFunctions,
                         testing::Values(Case{"exp", golden::Exp},
                                         Case{"log", golden::Log}),
                         [](const auto& info) { return info.param.kernel; });

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(argc, argv,
                                            {{"backend", &systole::g_backend},
                                             {"preset", &systole::g_preset},
                                             {"rows", &systole::g_rows}});
}
