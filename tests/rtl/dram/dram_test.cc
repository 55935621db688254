// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_axi_dram: data, order, bursts, AXI4 rules, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "VDram.h"
#include "tests/rtl/dram/bench.h"
#include "tests/testing/seeds.h"

namespace systole::dram {
namespace {

using testing::IsEmpty;
using DramBench = Bench<VDram>;

constexpr Device::Options kFast = {
    .bytes = kBytes, .beat_bytes = kBeat, .latency = 4, .beat_cycles = 1};

Traffic Linear(uint32_t first, int64_t count) {
  return {[first](int64_t i) { return first + static_cast<uint32_t>(i); },
          count};
}

// Runs of neighbours here and there, all clients in the same few places.
Traffic Random(DramBench* b, int64_t count, double rate, uint32_t span) {
  auto next = std::make_shared<uint32_t>(0);
  Traffic t;
  t.beat = [b, next, span](int64_t) {
    if (b->random()() % 8 == 0)
      *next = static_cast<uint32_t>(b->random()() % span);
    return (*next)++ % span;
  };
  t.count = count;
  t.rate = rate;
  t.partial = 0.3;
  t.window = 1 + static_cast<int>(b->random()() % 64);
  return t;
}

TEST(Dram, RandomTrafficIsRight) {
  for (const int seed : systole::testing_options::SeedList(40)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Device::Options options = kFast;
    options.latency = seed % 5 * 7 + 1;
    options.beat_cycles = seed % 3 == 0 ? 8 : 1;
    options.stall_rate = seed % 4 == 0 ? 0 : seed % 41 * 5;
    DramBench b(options, seed);
    const double stall = seed % 2 ? 0.2 : 0;
    for (const uint32_t span : {4096u, 48u, 3u}) {
      std::array<Traffic, kReaders> reads;
      std::array<Traffic, kWriters> writes;
      for (Traffic& t : reads) t = Random(&b, 150, 0.4, span);
      for (Traffic& t : writes) t = Random(&b, 150, 0.3, span);
      b.Run(reads, writes, stall);
    }
    b.CheckMemory();
    EXPECT_EQ(b.read_beats(), 3 * kReaders * 150);
    EXPECT_EQ(b.write_beats(), 3 * kWriters * 150);
    EXPECT_THAT(b.bus_errors(), IsEmpty());
    ASSERT_THAT(b.errors(), IsEmpty());
  }
}

TEST(Dram, StreamsBecomeFullBurstsAtABeatACycle) {
  DramBench b(kFast, 3);
  const int64_t read = b.Run({Linear(0, 512)}, {});
  EXPECT_EQ(b.device().counters().read_bursts, 512 / 16);
  EXPECT_LE(read, 512 + 30);
  const int64_t written = b.Run({}, {Linear(1000, 512)});
  // 1000 is no multiple of 16, and 1024 and 1280 are at 4 KiB.
  EXPECT_EQ(b.device().counters().write_bursts, 2 + 16 + 15);
  EXPECT_LE(written, 512 + 50);
  b.CheckMemory();
  EXPECT_THAT(b.errors(), IsEmpty());
}

// A slow memory lets bursts grow although the client asks with gaps.
TEST(Dram, BurstsGrowWhileTheBusIsBusy) {
  Device::Options options = kFast;
  options.beat_cycles = 8;
  DramBench b(options, 5);
  Traffic slow = Linear(0, 512);
  slow.rate = 0.3;
  b.Run({slow}, {});
  EXPECT_LE(b.device().counters().read_bursts, 512 / 5);
  EXPECT_THAT(b.errors(), IsEmpty());
}

TEST(Dram, LoneReadIsAnsweredSoon) {
  DramBench b(kFast, 7);
  const int64_t cycles = b.Run({Linear(77, 1)}, {});
  // The memory takes 4 + 1; outstanding_o and the bench see the end 5 later.
  EXPECT_LE(cycles, 8 + 5 + 5);
  EXPECT_THAT(b.errors(), IsEmpty());
}

// Bursts of one beat: an address each cycle or two.
TEST(Dram, LoneWritesFollowEachOther) {
  DramBench b(kFast, 8);
  const Traffic apart = {
      [](int64_t i) { return static_cast<uint32_t>(i * 9 % 4096); }, 300};
  const int64_t cycles = b.Run({}, {apart});
  EXPECT_LE(cycles, 300 + 30);
  EXPECT_EQ(b.device().counters().write_bursts, 300);
  b.CheckMemory();
  EXPECT_THAT(b.errors(), IsEmpty());
}

TEST(Dram, NoBurstCrosses4KiB) {
  DramBench b(kFast, 9);
  b.Run({Linear(250, 12)}, {Linear(4096 - 6, 6), Linear(506, 12)});
  EXPECT_EQ(b.device().counters().read_bursts, 2);
  b.CheckMemory();
  EXPECT_THAT(b.errors(), IsEmpty());
}

TEST(Dram, EveryClientHasItsTurn) {
  DramBench b(kFast, 11);
  b.Run(
      {Linear(0, 600), Linear(1000, 600), Linear(2000, 600), Linear(3000, 600)},
      {});
  EXPECT_LE(b.longest_wait(), 3 * 16 + 16);
  // And a whole burst's turn.
  EXPECT_LE(b.device().counters().read_bursts, 4 * 600 / 16 + 10);
  // The memory's time goes to both kinds.
  b.Run({Linear(0, 600)}, {Linear(2000, 300), Linear(3000, 300)});
  EXPECT_LE(b.longest_wait(), 300);
  b.CheckMemory();
  EXPECT_THAT(b.errors(), IsEmpty());
}

TEST(Dram, BusErrorsAreToldWithTheirBurst) {
  DramBench b(kFast, 13);
  b.set_compare(false);
  b.device().FailAt(0x2040, 0x2050);
  b.Run({Linear(0x1f0, 16)}, {});
  EXPECT_THAT(b.bus_errors(), IsEmpty());
  b.Run({Linear(0x200, 16)}, {});
  ASSERT_EQ(b.bus_errors().size(), 1u);
  EXPECT_EQ(b.bus_errors()[0].address, 0x2000u);
  b.Run({}, {Linear(0x1f0, 32)});
  ASSERT_EQ(b.bus_errors().size(), 2u);
  EXPECT_EQ(b.bus_errors()[1].address, 0x2000u);
  // A write's, wherever its burst begins, while good reads are answered.
  b.Run({Linear(0x600, 400)}, {Linear(0x1f0, 32)});
  ASSERT_EQ(b.bus_errors().size(), 3u);
  EXPECT_GE(b.bus_errors()[2].address, 0x2000u);
  EXPECT_LE(b.bus_errors()[2].address, 0x2040u);
  EXPECT_THAT(b.errors(), IsEmpty());
}

// The memory model's rules, each broken once.
class Rules : public testing::Test {
 protected:
  Rules() : device_(kFast) {}
  void Tick() { device_.Tick(in_, &out_); }
  std::string First() const {
    return device_.violations().empty() ? "" : device_.violations()[0];
  }
  std::array<uint8_t, kBeat> data_{};
  uint16_t strobes_ = 0xffff;
  AxiIn in_ = [this] {
    AxiIn in;
    in.wdata = data_.data();
    in.wstrb = &strobes_;
    in.bready = in.rready = true;
    return in;
  }();
  AxiOut out_;
  Device device_;
};

TEST_F(Rules, Addresses) {
  using testing::HasSubstr;
  const std::pair<AxiIn::Address, const char*> cases[] = {
      {{true, 0x100, 0, 3, 1}, "not the bus's width"},
      {{true, 0x100, 0, 4, 0}, "not an INCR"},
      {{true, 0x108, 0, 4, 1}, "not aligned"},
      {{true, 0xfe0, 2, 4, 1}, "4 KiB"},
      {{true, 0x10000, 0, 4, 1}, "leaves the memory"}};
  for (const auto& [address, text] : cases) {
    Device device(kFast);
    in_.ar = address;
    device.Tick(in_, &out_);
    ASSERT_EQ(device.violation_count(), 1);
    EXPECT_THAT(device.violations()[0], HasSubstr(text));
  }
}

TEST_F(Rules, WhatIsOfferedStays) {
  Device::Options options = kFast;
  options.stall_rate = 255;
  Device device(options);
  in_.aw = in_.ar = {true, 0x100, 0, 4, 1};
  in_.wvalid = true;
  int64_t seen = 0;
  for (int i = 0; i < 30; ++i) {
    device.Tick(in_, &out_);
    in_.ar.addr ^= 0x40;
    if (out_.arready) in_.ar.valid = false;
    if (out_.awready) in_.aw.valid = false;
    if (out_.wready) in_.wvalid = false;
  }
  seen = device.violation_count();
  EXPECT_GT(seen, 10);
  EXPECT_THAT(device.violations()[0], testing::HasSubstr("AR changed"));
  data_[3] = 1;
  device.Tick(in_, &out_);
  in_.wvalid = false;
  device.Tick(in_, &out_);
  EXPECT_GT(device.violation_count(), seen);
}

TEST_F(Rules, LastBeat) {
  in_.aw = {true, 0x100, 1, 4, 1};
  in_.wvalid = true;
  in_.wlast = true;
  Tick();
  in_.aw.valid = false;
  Tick();
  in_.wvalid = false;
  for (int i = 0; i < 30; ++i) Tick();
  EXPECT_THAT(First(), testing::HasSubstr("W beat 1 of 2"));
}

}  // namespace
}  // namespace systole::dram
