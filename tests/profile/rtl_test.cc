// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Recordings of random programs, each checked against the RTL's counters and
// its trace of completions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "absl/strings/str_format.h"
#include "host/compiler/access.h"
#include "systole/float_matmul.h"
#include "tests/compiler/random_case.h"
#include "tests/profile/profiled.h"
#include "tests/testing/seeds.h"

namespace systole::profile {
namespace {

// Completions a constant number of cycles before the trace port shows them,
// flags from those that post them, all cycles explained.
void ExpectConsistent(const Program& program, const Profiled& run) {
  std::set<int64_t> delays;
  for (const Retire& retire : run.stats.retires)
    delays.insert(
        static_cast<int64_t>(retire.cycle) -
        static_cast<int64_t>(run.recording.descriptors[retire.index].end));
  EXPECT_EQ(delays.size(), 1);
  EXPECT_EQ(run.stats.retires.size() + 1, program.descriptors.size());
  for (size_t i = 0; i < program.descriptors.size(); ++i) {
    const isa::Header header = isa::Halt::Decode(program.descriptors[i]).header;
    if (compiler::QueueOf(program.descriptors[i]) == isa::Queue::kNone)
      continue;
    const DescriptorTimes& times = run.recording.descriptors[i];
    EXPECT_LE(times.head, times.start);
    EXPECT_LT(times.start, times.end);
    uint32_t flags = 0;
    for (const FlagWait& wait : times.waits) {
      flags |= 1u << wait.flag;
      EXPECT_LE(wait.posted, times.start);
      EXPECT_NE(isa::Halt::Decode(program.descriptors[wait.poster])
                            .header.post_mask >>
                        wait.flag &
                    1,
                0);
    }
    EXPECT_EQ(flags, header.wait_mask);
  }
  uint64_t sum = 0;
  for (const Finding& f : run.analysis.findings) sum += f.cycles;
  EXPECT_EQ(sum, run.stats.cycles);
}

TEST(Recording, RandomProgramsOnNano) {
  const Preset& preset = *FindPreset("nano");
  Bench bench("nano");
  for (const uint64_t seed : systole::testing_options::Seeds(60)) {
    const RandomCase c = MakeRandomCase(seed, preset, 100000);
    const auto program = CompileCase(c, preset);
    if (!program.ok()) continue;
    SCOPED_TRACE(absl::StrFormat("seed %d:%s", seed, c.description));
    const auto run = bench.Run(*program);
    ASSERT_TRUE(run.ok()) << run.status();
    ExpectConsistent(*program, *run);
  }
}

TEST(Recording, WithRandomStalls) {
  const Preset& preset = *FindPreset("nano");
  Bench bench("nano", /*stall_rate=*/60);
  for (const uint64_t seed : systole::testing_options::Seeds(15, 100)) {
    const RandomCase c = MakeRandomCase(seed, preset, 40000);
    const auto program = CompileCase(c, preset);
    if (!program.ok()) continue;
    SCOPED_TRACE(absl::StrFormat("seed %d:%s", seed, c.description));
    const auto run = bench.Run(*program);
    ASSERT_TRUE(run.ok()) << run.status();
    ExpectConsistent(*program, *run);
  }
}

TEST(Recording, ABoardsMemory) {
  const Preset& preset = *FindPreset("board8");
  Bench bench("board8");
  for (const uint64_t seed : systole::testing_options::Seeds(10, 200)) {
    const RandomCase c = MakeRandomCase(seed, preset, 40000);
    const auto program = CompileCase(c, preset);
    if (!program.ok()) continue;
    SCOPED_TRACE(absl::StrFormat("seed %d:%s", seed, c.description));
    const auto run = bench.Run(*program);
    ASSERT_TRUE(run.ok()) << run.status();
    ExpectConsistent(*program, *run);
  }
}

TEST(Recording, Bf16) {
  const Preset& preset = *FindPreset("lite");
  Bench bench("lite");
  std::mt19937 rng(5);
  for (const bool transposed : {false, true}) {
    compiler::FloatMatmulSpec spec{96, 160, 70, {}, transposed, transposed};
    for (int64_t i = 0; i < spec.k * spec.n; ++i)
      spec.b.push_back(static_cast<uint16_t>(0x3f00 + rng() % 256));
    const auto program = compiler::CompileFloatMatmul(spec, preset);
    ASSERT_TRUE(program.ok()) << program.status();
    const auto run = bench.Run(*program);
    ASSERT_TRUE(run.ok()) << run.status();
    ExpectConsistent(*program, *run);
  }
}

TEST(Recording, ABuildWithoutAProbeSaysSo) {
  struct : ProbeSink {
    void Sample(ProbeSample, uint64_t) override {}
  } sink;
  DeviceOptions options;
  options.preset = "nano";
  options.simulation.checked = true;
  options.simulation.probes = {&sink};
  EXPECT_EQ(Device::Open("iss", options).status().code(),
            absl::StatusCode::kInvalidArgument);
  const auto device = Device::Open("rtl", options);
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(std::string(device.status().message()),
              testing::HasSubstr("cannot be profiled"));
}

}  // namespace
}  // namespace systole::profile
