// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// send between a unified buffer and a network that stall: every byte, post,
// completion and fault against the reference; packets, rate, freeze.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "Vsend_litechip.h"
#include "Vsend_minichip.h"
#include "Vsend_v2chip.h"
#include "tests/rtl/dma/send_unit.h"
#include "tests/testing/seeds.h"

namespace systole::dma_test {
namespace {

using isa::Descriptor;
using isa::Fault;
using isa::Send;

struct Minichip {
  using Model = Vsend_minichip;
  static constexpr const char* kName = "minichip";
};
struct Litechip {
  using Model = Vsend_litechip;
  static constexpr const char* kName = "litechip";
};
struct V2chip {
  using Model = Vsend_v2chip;
  static constexpr const char* kName = "v2chip";
};

template <typename T>
class SendTest : public ::testing::Test {
 protected:
  using Unit = SendUnit<typename T::Model>;
  static const Preset& preset() { return *FindPreset(T::kName); }
  static uint64_t beat() { return preset().beat_bytes(); }
  static uint64_t flit() {
    return std::min<uint64_t>(4 * preset().chip.link_bytes, 64);
  }
  // Of that many at the smallest beats.
  static int Seeds(int count) { return count * 32 / static_cast<int>(beat()); }

  static SendWorld World(std::mt19937* random) {
    SendWorld w;
    w.preset = &preset();
    w.columns = 1 + static_cast<int>((*random)() % 32);
    w.rows = 1 + static_cast<int>((*random)() % 32);
    if ((*random)() % 2) {
      w.base = ((*random)() % 100) * beat();
      w.end = w.base + (200 + (*random)() % 100) * beat();
    }
    return w;
  }
  static SendWorld Plain() {
    SendWorld w;
    w.preset = &preset();
    return w;
  }
  static SendTraffic RandomTraffic(std::mt19937* random) {
    const auto chance = [random] {
      static constexpr int kChances[] = {0, 0, 20, 100, 200, 245};
      return kChances[(*random)() % 6];
    };
    SendTraffic t;
    t.hold_head = chance();
    t.hold_start = chance();
    t.hold_read = chance();
    t.hold_send = chance();
    if ((*random)() % 4 == 0) {
      t.hold_answer = chance();
      t.latency = 2 + static_cast<int>((*random)() % 20);
    }
    return t;
  }
  static std::vector<Descriptor> Draw(const SendWorld& w, int count,
                                      std::mt19937* random) {
    std::vector<Descriptor> list;
    for (int i = 0; i < count; ++i)
      list.push_back(RandomSend(w, random).Encode());
    return list;
  }
  // `beats` beats in runs of `run` that follow each other.
  static Send Linear(uint64_t beats, uint64_t run, bool post) {
    Send d;
    d.header.flags = post ? Send::kLinkPost : 0;
    d.len = static_cast<uint32_t>(run * beat());
    d.n1 = static_cast<uint32_t>(beats / run);
    d.n2 = 1;
    d.hbm_stride1 = run * beat();
    d.ub_stride1 = static_cast<uint32_t>(run * beat());
    return d;
  }
  static Send Empty() {
    Send d;
    d.header.flags = Send::kLinkPost | Send::kEmpty;
    return d;
  }
};
using Chips = ::testing::Types<Minichip, Litechip, V2chip>;
TYPED_TEST_SUITE(SendTest, Chips);

TYPED_TEST(SendTest, SendsRandomDescriptors) {
  for (const uint64_t seed : testing_options::Seeds(this->Seeds(80), 1000)) {
    if (this->HasFailure()) return;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(static_cast<uint32_t>(seed));
    const SendWorld world = this->World(&random);
    typename TestFixture::Unit unit(world, static_cast<uint32_t>(seed));
    const auto list = this->Draw(world, 30, &random);
    const SendResult r = unit.Run(list, this->RandomTraffic(&random));
    EXPECT_EQ(r.done.size(), list.size());
  }
}

TYPED_TEST(SendTest, ReportsRandomFaults) {
  std::vector<int> seen(16);
  for (const uint64_t seed : testing_options::Seeds(this->Seeds(400), 2000)) {
    if (this->HasFailure()) return;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(static_cast<uint32_t>(seed));
    const SendWorld world = this->World(&random);
    typename TestFixture::Unit unit(world, static_cast<uint32_t>(seed));
    auto list = this->Draw(world, static_cast<int>(random() % 4), &random);
    list.push_back(FaultySend(world, &random).Encode());
    list.push_back(RandomSend(world, &random).Encode());
    SendTraffic t = this->RandomTraffic(&random);
    t.freeze_on_fault = random() % 2;
    const SendResult r = unit.Run(list, t);
    EXPECT_EQ(r.faults, 1);
    ++seen[static_cast<int>(r.fault)];
  }
  for (const Fault fault : {Fault::kIllegalDescriptor, Fault::kMisaligned,
                            Fault::kHbmRange, Fault::kUbRange})
    EXPECT_GT(seen[static_cast<int>(fault)], 0);
}

// Each reason alone, so that none hides behind another.
TYPED_TEST(SendTest, EachFault) {
  const SendWorld world = this->Plain();
  const Send good = this->Linear(4, 2, true);
  int number = 0;
  const auto expect = [&](const Send& bad, Fault fault, uint64_t addr) {
    SCOPED_TRACE("case " + std::to_string(number));
    typename TestFixture::Unit unit(world, static_cast<uint32_t>(++number));
    SendTraffic t;
    t.freeze_on_fault = number % 2;
    const SendResult r =
        unit.Run({good.Encode(), bad.Encode(), good.Encode()}, t);
    EXPECT_EQ(r.faults, 1);
    EXPECT_EQ(r.fault, fault);
    EXPECT_EQ(r.fault_addr, addr);
  };
  const auto with = [](Send d, auto field, uint64_t value) {
    d.*field = static_cast<std::decay_t<decltype(d.*field)>>(value);
    return d;
  };
  for (const Send& from : {good, this->Empty()}) {
    expect(with(from, &Send::dst_x, 2), Fault::kIllegalDescriptor, 0);
    expect(with(from, &Send::dst_y, 2), Fault::kIllegalDescriptor, 0);
  }
  for (const auto field : {&Send::len, &Send::n1, &Send::n2})
    expect(with(good, field, 0), Fault::kIllegalDescriptor, 0);
  Send silent = this->Empty();
  silent.header.flags = Send::kEmpty;
  expect(silent, Fault::kIllegalDescriptor, 0);
  for (const auto field : {&Send::len, &Send::n1, &Send::n2, &Send::ub_addr,
                           &Send::ub_stride1, &Send::ub_stride2})
    expect(with(this->Empty(), field, this->beat()), Fault::kIllegalDescriptor,
           0);
  for (const auto field :
       {&Send::hbm_addr, &Send::hbm_stride1, &Send::hbm_stride2})
    expect(with(this->Empty(), field, this->beat()), Fault::kIllegalDescriptor,
           0);
  for (const auto field :
       {&Send::hbm_addr, &Send::hbm_stride1, &Send::hbm_stride2})
    expect(with(good, field, good.*field + 16), Fault::kMisaligned,
           good.*field + 16);
  for (const auto field :
       {&Send::ub_addr, &Send::ub_stride1, &Send::ub_stride2})
    expect(with(good, field, good.*field + 4), Fault::kMisaligned,
           good.*field + 4);
  // The first run is sent, the second is not.
  expect(with(good, &Send::hbm_addr, world.end - 2 * this->beat()),
         Fault::kHbmRange, world.end);
  const auto ub = static_cast<uint64_t>(this->preset().ub_bytes);
  expect(with(good, &Send::ub_addr, ub - 3 * this->beat()), Fault::kUbRange,
         ub);
}

// A flit a cycle, whatever the runs, and between descriptors.
TYPED_TEST(SendTest, AFlitACycle) {
  for (const uint64_t run : {1, 3, 16, 96}) {
    typename TestFixture::Unit unit(this->Plain(), 2);
    const uint64_t beats = 96;
    const std::vector<Descriptor> list(
        4, this->Linear(beats, run, false).Encode());
    const SendResult r = unit.Run(list, {});
    const int64_t flits =
        static_cast<int64_t>(4 * beats * this->beat() / this->flit());
    ASSERT_EQ(static_cast<int64_t>(r.flits.size()), flits);
    EXPECT_EQ(r.flits.back() - r.flits.front(), flits - 1) << "runs of " << run;
  }
}

// Start, two stages of the walk, request, answer, packet.
TYPED_TEST(SendTest, Latency) {
  typename TestFixture::Unit unit(this->Plain(), 3);
  SendResult r = unit.Run({this->Linear(1, 1, true).Encode()}, {});
  ASSERT_FALSE(r.flits.empty());
  EXPECT_LE(r.flits.front(), 8);
  this->RecordProperty("data", static_cast<int>(r.flits.front()));
  unit.Reset();
  r = unit.Run({this->Empty().Encode()}, {});
  ASSERT_EQ(r.flits.size(), 1u);
  EXPECT_LE(r.flits.front(), 4);
  this->RecordProperty("post", static_cast<int>(r.flits.front()));
}

// What the network has not taken is not complete: a program that is done may
// be followed by the start of the next one, which resets the unit.
TYPED_TEST(SendTest, CompleteWhenTheNetworkHasAll) {
  for (const Send& d :
       {this->Empty(), this->Linear(1, 1, false), this->Linear(8, 2, true)}) {
    typename TestFixture::Unit unit(this->Plain(), 4);
    SendTraffic t;
    t.block_until = 300;
    const SendResult r = unit.Run({d.Encode()}, t);
    ASSERT_EQ(r.done.size(), 1u);
    EXPECT_EQ(r.done[0], r.flits.back() + 1);
    EXPECT_GT(r.done[0], 300);
  }
}

// Eight short descriptors, as many as a queue has in flight, wait in the unit.
TYPED_TEST(SendTest, DescriptorsInFlight) {
  for (const bool empty : {false, true}) {
    typename TestFixture::Unit unit(this->Plain(), 5);
    SendTraffic t;
    t.block_until = 500;
    const Send d = empty ? this->Empty() : this->Linear(1, 1, true);
    const SendResult r = unit.Run(std::vector(40, d.Encode()), t);
    EXPECT_EQ(r.done.size(), 40u);
    EXPECT_GE(r.most_started, 8);
  }
}

// What has begun is completed, also when the network takes it much later; then
// the unit is not busy, and nothing more comes. Run checks all of it.
TYPED_TEST(SendTest, FreezesAtAnyTime) {
  for (const uint64_t seed : testing_options::Seeds(this->Seeds(300), 3000)) {
    if (this->HasFailure()) return;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(static_cast<uint32_t>(seed));
    const SendWorld world = this->World(&random);
    typename TestFixture::Unit unit(world, static_cast<uint32_t>(seed));
    SendTraffic t = this->RandomTraffic(&random);
    t.freeze_at = 1 + static_cast<int64_t>(random() % 200);
    if (random() % 4 == 0) t.block_until = t.freeze_at + random() % 300;
    const SendResult r = unit.Run(this->Draw(world, 30, &random), t);
    EXPECT_EQ(r.faults, 0);
  }
}

// A freeze in every cycle around the starts of posts without data.
TYPED_TEST(SendTest, FreezesAPost) {
  for (int64_t cycle = 0; cycle < 40; ++cycle) {
    if (this->HasFailure()) return;
    typename TestFixture::Unit unit(this->Plain(), 6);
    SendTraffic t;
    t.freeze_at = cycle;
    const SendResult r = unit.Run(std::vector(30, this->Empty().Encode()), t);
    // All that started, and nothing else.
    EXPECT_EQ(r.started, 0) << "frozen in cycle " << cycle;
    EXPECT_EQ(r.flits.size(), r.done.size());
  }
}

TYPED_TEST(SendTest, ResetsAtAnyTime) {
  for (const uint64_t seed : testing_options::Seeds(this->Seeds(150), 4000)) {
    if (this->HasFailure()) return;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(static_cast<uint32_t>(seed));
    const SendWorld world = this->World(&random);
    typename TestFixture::Unit unit(world, static_cast<uint32_t>(seed));
    for (int i = 0; i < 3; ++i) {
      auto list = this->Draw(world, 8, &random);
      if (i == 2) list[random() % 3] = FaultySend(world, &random).Encode();
      SendTraffic t = this->RandomTraffic(&random);
      t.cut_at = 1 + random() % (i == 2 ? 400 : 60);
      unit.Run(list, t);
      unit.Reset();
    }
    const auto list = this->Draw(world, 8, &random);
    EXPECT_EQ(unit.Run(list, this->RandomTraffic(&random)).done.size(),
              list.size());
  }
}

}  // namespace
}  // namespace systole::dma_test
