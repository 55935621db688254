// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The forward kernels of firmware/vpu/pool.vs on a device against the golden
// model, to the bit: values of both signs and of any size, which a step does
// not have behind its ReLU, show the order of an average's sum.
// Options: --backend=iss|rtl --preset=mini|lite|v2 --seed=n.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/testing/options.h"
#include "tests/testing/seeds.h"
#include "tests/vpu/run_kernel.h"
#include "verif/golden/training_layers.h"

namespace systole {
namespace {

using golden::TrainingPool;

std::string g_backend = "iss";
std::string g_preset = "mini";

constexpr int kHeight = 9, kWidth = 21;

// bf16: any bits, or numbers that cancel.
std::vector<uint16_t> Image(int64_t count) {
  constexpr uint16_t kCancel[] = {0x3F80, 0xBF80, 0x4B80, 0xCB80,
                                  0x4BC0, 0xCBC0, 0x0000, 0x8000};
  std::mt19937_64 rng(testing_options::FirstSeed());
  std::vector<uint16_t> values(count);
  for (uint16_t& v : values) {
    const uint64_t bits = rng();
    v = bits >> 32 & 3 ? kCancel[bits % 8] : static_cast<uint16_t>(bits);
  }
  return values;
}

class KernelPool : public testing::TestWithParam<TrainingPool> {};

TEST_P(KernelPool, DeviceMatchesGolden) {
  SCOPED_TRACE("seed " + std::to_string(testing_options::FirstSeed()));
  const TrainingPool& pool = GetParam();
  const auto device =
      OpenStalled(g_backend, g_preset, testing_options::FirstSeed());
  ASSERT_TRUE(device.ok()) << device.status();
  const bool max = pool.kind == TrainingPool::Kind::kMax;
  const golden::PoolGeometry out = PoolOf(pool, kHeight, kWidth);
  const int64_t cols = (*device)->preset().cols, pitch = 2 * cols,
                line = kWidth * pitch;
  const int64_t bytes = WholeBeats(kHeight * line);
  const int64_t step = pool.stride_x * pitch,
                pooled_line = out.out_width * pitch;
  const int64_t width = (out.out_width + 7) / 8 * 8;
  const float share = 1.0f / static_cast<float>(pool.height * pool.width);
  uint32_t share_bits;
  std::memcpy(&share_bits, &share, sizeof(share));
  const std::vector<uint16_t> image = Image(bytes / 2);
  const auto got =
      RunKernel(device->get(), max ? "max_pool" : "average_pool",
                {{"full", 0},
                 {"pooled", bytes},
                 {"pitch", pitch},
                 {"row_skip", line - pool.width * pitch},
                 {"step", step},
                 {"line_skip", pool.stride_y * line - width * step},
                 {"pooled_skip", pooled_line - width * pitch},
                 {"size", out.out_height << 16 | out.out_width},
                 {"taps", pool.height << 16 | pool.width},
                 {"cols", cols},
                 {"more", share_bits}},
                BytesOf(image));
  ASSERT_TRUE(got.ok()) << got.status();
  golden::LayerGeometry g = {};
  g.images = 1;
  g.out_height = kHeight;
  g.out_width = kWidth;
  const golden::Bf16Matrix a = Eigen::Map<const golden::Bf16Matrix>(
      image.data(), kHeight * kWidth, cols);
  const golden::Bf16Matrix want =
      golden::ToBf16(golden::PoolForward(g, pool, golden::FromBf16(a)));
  for (int64_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(ValueOf<uint16_t>(*got, i), want.data()[i])
        << "window " << i / cols << ", channel " << i % cols;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Pools, KernelPool,
    testing::Values(TrainingPool{TrainingPool::Kind::kMax, 3, 3, 1, 1},
                    TrainingPool{TrainingPool::Kind::kMax, 2, 4, 3, 2},
                    TrainingPool{TrainingPool::Kind::kAverage, 3, 3, 1, 1},
                    TrainingPool{TrainingPool::Kind::kAverage, 2, 4, 3, 2},
                    TrainingPool{TrainingPool::Kind::kAverage, 9, 21, 1, 1}));

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(
      argc, argv,
      {{"backend", &systole::g_backend}, {"preset", &systole::g_preset}});
}
