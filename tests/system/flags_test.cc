// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs whose descriptors post and take random flags, over all numbers,
// between any two queues and with the halt, with random stalls; soft resets at
// any time. The simulator runs the same programs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "systole/device.h"
#include "tests/system/programs.h"
#include "tests/testing/long.h"
#include "tests/testing/seeds.h"

namespace systole {
namespace {

using ::systole::testing::SmallMatmul;
using ::systole::testing_options::Seeds;

constexpr uint64_t kStored = SmallMatmul::kC;
constexpr int kStores = 8;  // places that a program stores to
constexpr uint64_t kStoredBytes =
    kStores * SmallMatmul::kRows * SmallMatmul::kPitchC;

// A chain of `steps` descriptors in random queues, products of random shapes:
// each takes a flag of the one before it, so that any order of queues gives the
// same memory. Besides, each posts flags that later ones take, or the halt. A
// flag is taken in one queue only, drawn for each program, and is posted again
// after it was taken.
Program RandomFlags(uint64_t seed, int steps) {
  constexpr int kLoad = 0, kWeights = 1, kMatmul = 2, kRequant = 3, kHalt = 5;
  std::mt19937_64 rng(seed);
  auto below = [&rng](uint64_t n) { return static_cast<int>(rng() % n); };
  // The first five in the order of the product, so that each has its data.
  std::vector<int> what = {kLoad, kWeights, kMatmul, kRequant, 4};
  std::vector<bool> fresh(steps);  // a product takes the next weights
  for (bool waiting = false; static_cast<int>(what.size()) < steps;) {
    int next = below(5);
    if (next == kWeights && waiting) next = kLoad;
    fresh[what.size()] = next == kMatmul && waiting;
    if (next == kWeights || next == kMatmul) waiting = next == kWeights;
    what.push_back(next);
  }
  fresh[2] = true;
  what.push_back(kHalt);

  std::array<std::vector<uint32_t>, kHalt + 1> takes;  // flags of a queue
  std::vector<uint32_t> flags(isa::kNumFlags);
  for (int i = 0; i < isa::kNumFlags; ++i) flags[i] = 1u << i;
  std::shuffle(flags.begin(), flags.end(), rng);
  for (int i = 0; i < isa::kNumFlags; ++i) {
    takes[i <= kHalt ? i : below(kHalt + 1)].push_back(flags[i]);
  }
  std::vector<uint32_t> wait(steps + 1), post(steps + 1);
  std::map<uint32_t, std::vector<std::pair<int, int>>> used;
  auto join = [&](int from, int by) {
    const std::vector<uint32_t>& own = takes[what[by]];
    const uint32_t flag = own[below(own.size())];
    for (const auto& [first, last] : used[flag]) {
      if (first < by && from < last) return;  // one of them took the other's
    }
    used[flag].push_back({from, by});
    wait[by] |= flag;
    post[from] |= flag;
  };
  for (int i = 0; i < steps; ++i) join(i, i + 1);
  for (int i = 0; i < steps; ++i) {
    for (int n = below(6); n > 0; --n) {
      join(i, i + 1 + below(std::min(8, steps - i)));
    }
  }

  SmallMatmul parts(static_cast<uint32_t>(seed));
  Program program = parts.program;
  program.prog_addr = 0x20000;
  program.descriptors.clear();
  int stored = 0;
  for (int i = 0; i <= steps; ++i) {
    auto add = [&](auto descriptor) {
      descriptor.header.wait_mask = wait[i];
      descriptor.header.post_mask = post[i];
      program.descriptors.push_back(descriptor.Encode());
    };
    switch (what[i]) {
      case kLoad:
        add(parts.load);
        break;
      case kWeights:
        add(parts.weights);
        break;
      case kMatmul:
        parts.matmul.header.flags = fresh[i] ? 0 : isa::Matmul::kKeepWeights;
        if (i > 2) {  // all rows have sums: any shape goes
          constexpr int kVectors[] = {1, 2, 7, 8, 9, SmallMatmul::kRows, 256};
          parts.matmul.ny = kVectors[below(std::size(kVectors))];
          parts.matmul.seg_len[0] = 1 + below(SmallMatmul::kSize);
        }
        add(parts.matmul);
        break;
      case kRequant:
        add(parts.requant);
        break;
      case kHalt:
        add(isa::Halt());
        break;
      default:
        parts.store.hbm_addr =
            kStored + (stored++ % kStores) * (kStoredBytes / kStores);
        add(parts.store);
    }
  }
  program.hbm_bytes = program.prog_addr + 64 * (program.descriptors.size() + 8);
  return program;
}

std::unique_ptr<Device> Open(const std::string& backend,
                             DeviceOptions options) {
  options.preset = "nano";
  options.simulation.checked = true;
  auto device = Device::Open(backend, options);
  EXPECT_TRUE(device.ok()) << device.status();
  return device.ok() ? std::move(*device) : nullptr;
}

std::vector<uint8_t> Stored(Device* device) {
  std::vector<uint8_t> bytes(kStoredBytes);
  EXPECT_TRUE(device->Read(kStored, absl::MakeSpan(bytes)).ok());
  return bytes;
}

void RunsAsOnTheSimulator(Device* rtl, Device* iss, const Program& program) {
  const std::vector<uint8_t> nothing(kStoredBytes);
  for (Device* device : {rtl, iss}) {
    ASSERT_TRUE(device->Write(kStored, nothing).ok());
    const auto stats = device->Run(program);
    ASSERT_TRUE(stats.ok()) << device->backend() << ": " << stats.status();
  }
  const std::vector<uint8_t> bytes = Stored(rtl), wanted = Stored(iss);
  const auto place =
      std::mismatch(bytes.begin(), bytes.end(), wanted.begin()).first;
  EXPECT_EQ(bytes, wanted) << "from byte " << place - bytes.begin() << "\n"
                           << DisassembleProgram(program);
  EXPECT_NE(bytes, nothing);
}

TEST(Flags, RandomRoutesGiveTheSimulatorsMemory) {
  auto iss = Open("iss", {});
  ASSERT_NE(iss, nullptr);
  for (const uint64_t seed : Seeds(/*cases=*/6)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    DeviceOptions options;
    options.simulation.seed = seed;
    options.simulation.stall_rate =
        seed % 3 == 0 ? 0 : static_cast<int>(seed * 37 % 200);
    auto rtl = Open("rtl", options);
    ASSERT_NE(rtl, nullptr);
    for (int round = 0; round < 3; ++round) {
      RunsAsOnTheSimulator(rtl.get(), iss.get(),
                           RandomFlags(seed * 3 + round, 60));
    }
  }
}

TEST(Flags, AResetAtAnyTimeLeavesNothingBehind) {
  auto iss = Open("iss", {});
  ASSERT_NE(iss, nullptr);
  for (const uint64_t seed : Seeds(/*cases=*/4)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    int asked = 0;
    std::optional<int> stop_at;
    DeviceOptions options;
    options.simulation.seed = seed;
    options.simulation.stall_rate = static_cast<int>(seed * 53 % 200);
    options.stop = [&] { return stop_at && ++asked > *stop_at; };
    auto rtl = Open("rtl", options);
    ASSERT_NE(rtl, nullptr);
    ASSERT_TRUE(rtl->Reset(ResetScope::kCore).ok());  // nothing has run
    stop_at = static_cast<int>(seed % 3);
    // The stop comes at a multiple of cycles: what it meets is random.
    const absl::Status status = rtl->Run(RandomFlags(seed + 100, 400)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
    stop_at.reset();
    ASSERT_TRUE(rtl->Reset(ResetScope::kCore).ok());
    RunsAsOnTheSimulator(rtl.get(), iss.get(), RandomFlags(seed, 30));
    ASSERT_TRUE(rtl->Reset(ResetScope::kCore).ok());  // it is done
    RunsAsOnTheSimulator(rtl.get(), iss.get(), RandomFlags(seed, 30));
  }
}

// A write of several bus requests ends between two of them.
TEST(Stop, EndsALongWrite) {
  DeviceOptions options;
  bool stop = false;
  options.stop = [&stop] { return stop; };
  auto rtl = Open("rtl", options);
  ASSERT_NE(rtl, nullptr);
  const std::vector<uint8_t> bytes((2 << 20) + 1, 7);
  ASSERT_EQ(rtl->Write(0, bytes), absl::OkStatus());
  stop = true;
  EXPECT_EQ(rtl->Write(0, bytes).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(rtl->Write(0, absl::MakeSpan(bytes).subspan(0, 64)),
            absl::OkStatus());
}

// One post more than a flag counts; on the RTL rtl_sequencer_test shows it too.
TEST(Flags, TooManyPostsAreAFault) {
  SmallMatmul parts(1);
  Program program = parts.program;
  parts.load.len = 32;
  parts.load.header.post_mask = 1u << 19;
  program.descriptors.assign(isa::kFlagMax + 1, parts.load.Encode());
  program.descriptors.push_back(isa::Halt().Encode());
  program.prog_addr = 0x20000;
  program.hbm_bytes = program.prog_addr + 64 * (program.descriptors.size() + 8);
  for (const std::string backend : {"iss", "rtl"}) {
    if (backend == "rtl" && !testing_options::Long()) continue;
    auto device = Open(backend, {});
    ASSERT_NE(device, nullptr);
    const absl::Status status = device->Run(program).status();
    ASSERT_EQ(status.code(), absl::StatusCode::kAborted) << status;
    ASSERT_TRUE(device->fault().has_value());
    EXPECT_EQ(device->fault()->cause, isa::Fault::kFlagOverflow) << status;
    EXPECT_EQ(device->fault()->queue, 0u) << status;
    EXPECT_EQ(device->fault()->index, isa::kFlagMax) << status;
  }
}

}  // namespace
}  // namespace systole
