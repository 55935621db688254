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

#include "host/kernels/kernels.h"
#include "host/program/vpu_asm.h"
#include "systole/device.h"
#include "tests/testing/options.h"
#include "verif/golden/functions.h"

namespace systole {
namespace {

std::string g_backend = "iss";
std::string g_preset = "mini";
int g_rows = 1021;  // the last registers are not full
uint64_t g_seed = 1;

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
  std::mt19937_64 rng(g_seed);
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
  SCOPED_TRACE("--seed=" + std::to_string(g_seed));
  DeviceOptions options;
  options.preset = g_preset;
  options.checked = g_preset == "mini";  // the others only have a fast model
  options.seed = g_seed;
  options.stall_rate = 16;
  auto device = Device::Open(g_backend, options);
  ASSERT_TRUE(device.ok()) << device.status();
  const Preset& preset = (*device)->preset();
  const auto image = kernels::Assemble(preset);
  ASSERT_TRUE(image.ok()) << image.status();
  const auto whole_beats = [](int64_t bytes) {
    return (bytes + 511) / 512 * 512;
  };
  const int64_t pitch = 4 * preset.cols, bytes = whole_beats(g_rows * pitch);
  const int64_t code_addr = 2 * bytes;
  const int64_t code_bytes = whole_beats(8 * image->words().size() + pitch);
  ASSERT_LE(code_addr + code_bytes, preset.ub_bytes);

  Program program;
  program.preset = g_preset;
  program.segments.push_back(
      vpu::Segment("kernels", code_addr, image->words()));
  vpu::CodeLoad code = vpu::LoadCode(
      code_addr, code_addr, static_cast<int64_t>(image->words().size()), 0);
  isa::Load load;
  load.hbm_addr = 0, load.ub_addr = 0;
  load.len = static_cast<uint32_t>(bytes), load.n1 = load.n2 = 1;
  isa::Vrun run = image->Run(
      GetParam().kernel,
      {{"src", 0}, {"dst", bytes}, {"pitch", pitch}, {"rows", g_rows}});
  isa::Store store;
  store.hbm_addr = bytes, store.ub_addr = static_cast<uint32_t>(bytes);
  store.len = static_cast<uint32_t>(bytes), store.n1 = store.n2 = 1;
  code.load.header.post_mask = code.vload.header.wait_mask = 1;
  load.header.post_mask = run.header.wait_mask = 2;
  run.header.post_mask = store.header.wait_mask = 4;
  program.descriptors = {code.load.Encode(),  load.Encode(),
                         code.vload.Encode(), run.Encode(),
                         store.Encode(),      isa::Halt{}.Encode()};
  program.prog_addr = code_addr + code_bytes;
  program.hbm_bytes = program.prog_addr + 1024;

  const std::vector<uint32_t> arguments = Arguments(bytes / 4);
  std::vector<uint32_t> got(arguments.size());
  ASSERT_TRUE(
      (*device)
          ->Write(0, {reinterpret_cast<const uint8_t*>(arguments.data()),
                      static_cast<size_t>(bytes)})
          .ok());
  const auto stats = (*device)->Run(program);
  ASSERT_TRUE(stats.ok()) << stats.status();
  ASSERT_TRUE((*device)
                  ->Read(bytes, {reinterpret_cast<uint8_t*>(got.data()),
                                 static_cast<size_t>(bytes)})
                  .ok());
  for (int64_t i = 0; i < g_rows * preset.cols; ++i) {
    ASSERT_EQ(got[i], GetParam().golden(arguments[i]))
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
                                             {"rows", &systole::g_rows},
                                             {"seed", &systole::g_seed}});
}
