// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The driver's API, the same on every backend: memory, programs, counters,
// stalls.

#include "systole/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/system/programs.h"

namespace systole {
namespace {

using ::systole::testing::SmallMatmul;
using ::testing::HasSubstr;

class DeviceTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Device> Open(DeviceOptions options = {}) {
    options.preset = "nano";
    options.simulation.checked = true;
    auto device = Device::Open(GetParam(), options);
    EXPECT_TRUE(device.ok()) << device.status();
    return device.ok() ? std::move(*device) : nullptr;
  }

  static void ExpectResult(Device* device, const SmallMatmul& matmul) {
    std::vector<uint8_t> bytes(SmallMatmul::kRows * SmallMatmul::kPitchC);
    ASSERT_TRUE(device->Read(SmallMatmul::kC, absl::MakeSpan(bytes)).ok());
    for (int i = 0; i < SmallMatmul::kRows; ++i) {
      for (int j = 0; j < SmallMatmul::kSize; ++j) {
        int32_t got;
        std::memcpy(&got, &bytes[i * SmallMatmul::kPitchC + 4 * j], 4);
        ASSERT_EQ(got, matmul.Expected(i, j)) << "row " << i << " column " << j;
      }
    }
  }
};

TEST_P(DeviceTest, MemoryKeepsBytesOfAnyAddressAndLength) {
  auto device = Open();
  ASSERT_NE(device, nullptr);
  std::mt19937 rng(7);
  for (int round = 0; round < 40; ++round) {
    std::vector<uint8_t> bytes(1 + rng() % 700), back(bytes.size() + 2, 0xee);
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(rng());
    const uint64_t addr = 1 + rng() % 9000;
    const std::vector<uint8_t> zero(bytes.size() + 2);
    ASSERT_TRUE(device->Write(addr - 1, zero).ok());
    ASSERT_TRUE(device->Write(addr, bytes).ok());
    ASSERT_TRUE(device->Read(addr - 1, absl::MakeSpan(back)).ok());
    EXPECT_EQ(back.front(), 0);
    EXPECT_EQ(back.back(), 0);
    ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), back.begin() + 1))
        << "round " << round;
  }
}

TEST_P(DeviceTest, MemoryBeyondTheEndIsRefused) {
  auto device = Open();
  ASSERT_NE(device, nullptr);
  std::vector<uint8_t> bytes(64);
  EXPECT_EQ(device->Write(uint64_t{1} << 36, bytes).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(device->Read(uint64_t{1} << 36, absl::MakeSpan(bytes)).code(),
            absl::StatusCode::kOutOfRange);
}

TEST_P(DeviceTest, RunsAProgramAgainAndAgain) {
  auto device = Open();
  ASSERT_NE(device, nullptr);
  for (uint32_t seed = 1; seed <= 3; ++seed) {
    SmallMatmul matmul(seed);
    auto stats = device->Run(matmul.program);
    ASSERT_TRUE(stats.ok()) << stats.status();
    ExpectResult(device.get(), matmul);
    if (device->backend() != "rtl") continue;
    EXPECT_GT(stats->cycles, 20u);
    EXPECT_EQ(stats->counter(csr::Counter::kMxuVectors),
              static_cast<uint64_t>(SmallMatmul::kRows));
    EXPECT_EQ(stats->counter(csr::Counter::kDescriptors),
              matmul.program.descriptors.size());
    EXPECT_EQ(stats->retires.size(), matmul.program.descriptors.size() - 1);
  }
}

// Sums of 8 products of -128 and -128, 2^17 each, up to 2^31 - 2^17 and to
// 2^31, which is one too many.
TEST_P(DeviceTest, SumsSaturateAndSaySo) {
  auto device = Open();
  ASSERT_NE(device, nullptr);
  for (const int passes : {16383, 16384}) {
    SCOPED_TRACE(::testing::Message() << passes << " passes");
    SmallMatmul matmul(1);
    for (DataSegment& s : matmul.program.segments) {
      std::fill(s.data.begin(), s.data.end(), uint8_t{0x80});
    }
    const isa::Matmul all = matmul.matmul;
    isa::Matmul one = all;
    one.ny = 1;
    one.header.wait_mask = one.header.post_mask = 0;
    one.header.flags = isa::Matmul::kKeepWeights | isa::Matmul::kAccumulate;
    matmul.matmul.header.post_mask = 0;
    matmul.Assemble();
    std::vector<isa::Descriptor>& program = matmul.program.descriptors;
    std::vector<isa::Descriptor> more(passes - 1, one.Encode());
    one.header.post_mask = all.header.post_mask;
    more.back() = one.Encode();
    program.insert(program.begin() + 3, more.begin(), more.end());
    matmul.program.hbm_bytes =
        SmallMatmul::kProgram + 64 * (program.size() + 8);
    const auto stats = device->Run(matmul.program);
    ASSERT_TRUE(stats.ok()) << stats.status();
    EXPECT_EQ(stats->acc_saturated, passes == 16384);
    int32_t first = 0;
    ASSERT_TRUE(device
                    ->Read(SmallMatmul::kC,
                           {reinterpret_cast<uint8_t*>(&first), sizeof(first)})
                    .ok());
    EXPECT_EQ(first, static_cast<int32_t>(
                         std::min<int64_t>(int64_t{passes} << 17, 0x7FFFFFFF)));
  }
  SmallMatmul matmul(2);  // a start clears it
  const auto stats = device->Run(matmul.program);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_FALSE(stats->acc_saturated);
}

// The bias takes a sum to the largest number, or beyond it.
TEST_P(DeviceTest, BiasSaturatesAndSaysSo) {
  constexpr uint64_t kParams = 0x4000;
  constexpr int kSum = 8 << 14;
  auto device = Open();
  ASSERT_NE(device, nullptr);
  for (const int beyond : {0, 1}) {
    SCOPED_TRACE(::testing::Message() << beyond << " beyond");
    SmallMatmul matmul(1);
    for (DataSegment& s : matmul.program.segments) {
      std::fill(s.data.begin(), s.data.end(), uint8_t{0x80});
    }
    std::vector<int32_t> params(24, 0x7FFFFFFF - kSum);  // bias, multiplier, 0
    params[5] += beyond;
    std::fill(params.begin() + 8, params.end(), 0);
    std::vector<uint8_t> bytes(4 * params.size());
    std::memcpy(bytes.data(), params.data(), bytes.size());
    matmul.program.segments.push_back({"params", kParams, bytes});
    isa::Load load;
    load.header.post_mask = 1u << 3;
    load.hbm_addr = load.ub_addr = kParams;
    load.len = static_cast<uint32_t>(bytes.size());
    load.n1 = load.n2 = 1;
    matmul.requant.header.flags = 0;
    matmul.requant.header.wait_mask |= 1u << 3;
    matmul.requant.params = kParams;
    matmul.requant.clamp_min = -128;
    matmul.requant.clamp_max = 127;
    matmul.Assemble();
    std::vector<isa::Descriptor>& program = matmul.program.descriptors;
    program.insert(program.begin() + 1, load.Encode());
    const auto stats = device->Run(matmul.program);
    ASSERT_TRUE(stats.ok()) << stats.status();
    EXPECT_EQ(stats->acc_saturated, beyond == 1);
  }
  SmallMatmul matmul(2);  // a start clears it
  const auto stats = device->Run(matmul.program);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_FALSE(stats->acc_saturated);
}

// Counters read while a program runs only grow, and reading them costs nothing.
TEST_P(DeviceTest, SamplesItsCounters) {
  SmallMatmul matmul(4);
  auto plain = Open();
  ASSERT_NE(plain, nullptr);
  const auto want = plain->Run(matmul.program);
  ASSERT_TRUE(want.ok()) << want.status();
  DeviceOptions options;
  options.sample_cycles = 20;
  auto device = Open(options);
  ASSERT_NE(device, nullptr);
  const auto got = device->Run(matmul.program);
  ASSERT_TRUE(got.ok()) << got.status();
  ExpectResult(device.get(), matmul);
  EXPECT_EQ(got->cycles, want->cycles);
  EXPECT_EQ(got->counters, want->counters);
  EXPECT_EQ(got->samples.empty(), device->backend() != "rtl");
  CounterSample before;
  for (const CounterSample& sample : got->samples) {
    EXPECT_GT(sample.cycle, before.cycle);
    for (int c = 0; c < csr::kNumCounters; ++c) {
      EXPECT_GE(sample.counters[c], before.counters[c]);
      EXPECT_LE(sample.counters[c], got->counters[c]);
    }
    before = sample;
  }
}

TEST_P(DeviceTest, RandomStallsChangeNoResult) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    DeviceOptions options;
    options.simulation.seed = seed;
    options.simulation.stall_rate = 40 * static_cast<int>(seed % 5);
    SCOPED_TRACE(::testing::Message() << "seed " << seed << " stall rate "
                                      << options.simulation.stall_rate);
    auto device = Open(options);
    ASSERT_NE(device, nullptr);
    SmallMatmul matmul(seed);
    auto stats = device->Run(matmul.program);
    ASSERT_TRUE(stats.ok()) << stats.status();
    ExpectResult(device.get(), matmul);
  }
}

// The stalls are there: the same seed gives the same cycles again, another
// seed others, and more of them cost more.
TEST_P(DeviceTest, RandomStallsFollowRateAndSeed) {
  if (GetParam() != std::string("rtl")) GTEST_SKIP() << "stalls are the RTL's";
  const SmallMatmul matmul(3);
  const auto cycles = [&](int rate, uint64_t seed) -> uint64_t {
    DeviceOptions options;
    options.simulation.seed = seed;
    options.simulation.stall_rate = rate;
    auto device = Open(options);
    auto stats = device->Run(matmul.program);
    EXPECT_TRUE(stats.ok()) << stats.status();
    return stats->cycles;
  };
  const uint64_t none = cycles(0, 1), some = cycles(60, 1);
  EXPECT_EQ(none, cycles(0, 2));
  EXPECT_EQ(some, cycles(60, 1));
  EXPECT_NE(some, cycles(60, 2));
  EXPECT_GT(some, none);
  EXPECT_GT(cycles(200, 1), some);
}

TEST_P(DeviceTest, TwoDevicesSideBySide) {
  auto first = Open(), second = Open();
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  SmallMatmul one(11), two(12);
  ASSERT_TRUE(first->Load(one.program).ok());
  ASSERT_TRUE(second->Load(two.program).ok());
  ASSERT_TRUE(first->Start(one.program).ok());
  ASSERT_TRUE(second->Run(two.program).ok());
  ASSERT_TRUE(first->Wait().ok());
  ExpectResult(first.get(), one);
  ExpectResult(second.get(), two);
}

TEST_P(DeviceTest, ProgramOfAnotherPresetIsRefused) {
  auto device = Open();
  ASSERT_NE(device, nullptr);
  SmallMatmul matmul(1);
  matmul.program.preset = "edge";
  const absl::Status status = device->Run(matmul.program).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("edge"));
}

TEST_P(DeviceTest, WaitWithoutStartIsRefused) {
  auto device = Open();
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->Wait().status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// Windows of the vector unit at each byte of a word: one that is aligned lies
// in one word, all others in two.
TEST_P(DeviceTest, TheVectorUnitReadsWindowsOfAnyAddress) {
  constexpr int kPositions = 40, kCols = 8;
  auto device = Open();
  ASSERT_NE(device, nullptr);
  std::vector<uint8_t> bytes(kPositions + kCols), back(kPositions * kCols);
  std::mt19937 rng(3);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(rng());
  isa::Load load;
  load.header.post_mask = 1;
  load.hbm_addr = 0x1000;
  load.len = static_cast<uint32_t>(bytes.size());
  load.n1 = load.n2 = 1;
  isa::Pool pool;
  pool.header.wait_mask = 1;
  pool.header.post_mask = 2;
  pool.lines = pool.n = pool.ny = pool.kh = pool.kw = pool.src_sx = 1;
  pool.line_bytes = load.len;
  pool.nx = kPositions;
  pool.cols = pool.dst_sx = kCols;
  pool.dst = 0x1000;
  pool.clamp_min = -128, pool.clamp_max = 127;
  isa::Store store;
  store.header.wait_mask = 2;
  store.hbm_addr = 0x2000;
  store.ub_addr = pool.dst;
  store.len = kPositions * kCols;
  store.n1 = store.n2 = 1;
  Program program;
  program.preset = "nano";
  program.prog_addr = 0x8000;
  program.hbm_bytes = 0x10000;
  program.segments.push_back({"in", load.hbm_addr, bytes});
  program.descriptors = {load.Encode(), pool.Encode(), store.Encode(),
                         isa::Halt().Encode()};
  const auto stats = device->Run(program);
  ASSERT_TRUE(stats.ok()) << stats.status();
  ASSERT_TRUE(device->Read(store.hbm_addr, absl::MakeSpan(back)).ok());
  for (int i = 0; i < kPositions * kCols; ++i)
    ASSERT_EQ(back[i], bytes[i / kCols + i % kCols])
        << "position " << i / kCols << " byte " << i % kCols;
}

INSTANTIATE_TEST_SUITE_P(Backends, DeviceTest, ::testing::Values("iss", "rtl"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

TEST(DeviceOpen, NamesWhatExists) {
  auto device = Device::Open("fpga", {});
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.status().message(), HasSubstr("rtl"));
  DeviceOptions options;
  options.preset = "huge";
  EXPECT_FALSE(Device::Open("rtl", options).ok());
  EXPECT_FALSE(Device::Open("iss", options).ok());
}

}  // namespace
}  // namespace systole
