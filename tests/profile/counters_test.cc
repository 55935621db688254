// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The counters that CheckRecording has no cause for, against what the probe
// sees of random programs: descriptors in flight, waits for flags, fetches, row
// commands, full queues.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>

#include "host/compiler/access.h"
#include "systole/device.h"
#include "systole/gen/csr.h"
#include "tests/compiler/random_case.h"
#include "tests/testing/seeds.h"
#include "verif/hbm_model/timing_checker.h"

namespace systole {
namespace {

using csr::Counter;

constexpr int kQueues = 5;
constexpr std::array<Counter, kQueues> kBusy = {
    Counter::kLoadBusy, Counter::kWeightBusy, Counter::kMxuBusy,
    Counter::kVectorBusy, Counter::kStoreBusy};
constexpr std::array<Counter, kQueues> kWait = {
    Counter::kLoadWait, Counter::kWeightWait, Counter::kMxuWait,
    Counter::kVectorWait, Counter::kStoreWait};

class Counts : public ProbeSink {
 public:
  void Sample(ProbeSample s, uint64_t) override {
    // The memory's counters come a cycle late.
    running_ = s.running() != 0;
    activates += running_ ? acts_ : 0;
    acts_ = 0;
    if (!running_) return;
    for (int q = 0; q < kQueues; ++q) {
      busy[q] += flights_[q] != 0;
      flights_[q] += s.start() >> q & 1;
      flights_[q] -= s.done() >> q & 1;
      wait[q] += s.want() >> q & 1;
      done += s.done() >> q & 1;
    }
    fetched += s.rd_answer() & 1;
    full += s.dispatch_stall();
  }
  void Command(const RowCommand& c) override {
    acts_ += static_cast<hbm::RowCmd>(c.command) == hbm::RowCmd::kAct;
  }

  std::array<uint64_t, kQueues> busy{}, wait{};
  uint64_t done = 0, fetched = 0, full = 0, activates = 0;

 private:
  std::array<int, kQueues> flights_{};
  bool running_ = false;
  uint64_t acts_ = 0;
};

void Compare(const char* name, int stall_rate, int64_t seeds, int first) {
  const Preset& preset = *FindPreset(name);
  struct : ProbeSink {
    Counts* to = nullptr;
    void Sample(ProbeSample s, uint64_t cycle) override {
      to->Sample(s, cycle);
    }
    void Command(const RowCommand& c) override { to->Command(c); }
  } relay;
  Counts before;
  relay.to = &before;
  DeviceOptions options;
  options.preset = name;
  options.simulation.stall_rate = stall_rate;
  options.simulation.probes = {&relay};
  const auto device = Device::Open("rtl", options);
  ASSERT_TRUE(device.ok()) << device.status();
  uint64_t waits = 0, full = 0;
  for (const uint64_t seed : testing_options::Seeds(seeds, first)) {
    const RandomCase c = MakeRandomCase(seed, preset, 40000);
    const auto program = CompileCase(c, preset);
    if (!program.ok()) continue;
    SCOPED_TRACE(::testing::Message() << "seed " << seed << c.description);
    Counts seen;
    relay.to = &seen;
    const auto stats = (*device)->Run(*program);
    relay.to = &before;
    ASSERT_TRUE(stats.ok()) << stats.status();
    // The cycle in which a descriptor has its flags is none of waiting.
    for (const isa::Descriptor& d : program->descriptors) {
      const auto queue = static_cast<int>(compiler::QueueOf(d));
      if (queue < kQueues && isa::Halt::Decode(d).header.wait_mask != 0)
        --seen.wait[queue];
    }
    for (int q = 0; q < kQueues; ++q) {
      EXPECT_EQ(stats->counter(kBusy[q]), seen.busy[q]) << "queue " << q;
      EXPECT_EQ(stats->counter(kWait[q]), seen.wait[q]) << "queue " << q;
      waits += seen.wait[q];
    }
    EXPECT_EQ(stats->counter(Counter::kDescriptors), seen.done + 1);
    EXPECT_EQ(stats->counter(Counter::kFetchBytes),
              seen.fetched * preset.beat_bytes());
    EXPECT_EQ(stats->counter(Counter::kDispatchStall), seen.full);
    EXPECT_EQ(stats->counter(Counter::kHbmActivates), seen.activates);
    full += seen.full;
  }
  EXPECT_GT(waits, 0u);
  EXPECT_GT(full, 0u);
}

TEST(Counters, OfRandomProgramsOnNano) { Compare("nano", 0, 40, 1); }
TEST(Counters, WithRandomStalls) { Compare("nano", 60, 20, 300); }

}  // namespace
}  // namespace systole
