// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What a link does in each situation of the protocol: single faults, an end
// that misbehaves, giving up.

#include <algorithm>

#include "gtest/gtest.h"
#include "tests/rtl/link/cables.h"

namespace systole::link_test {
namespace {

class ProtocolTest : public CableTest {
 protected:
  void SetUp() override {
    cable_ = std::make_unique<Cable>(Connect(width(), model(), 11, 6));
    Cable& c = *cable_;
    ASSERT_GE(c.Until([&] { return c.a->up() && c.b->up(); }, 3000), 0);
    for (int i = 0; i < 300; ++i) c.Cycle();
  }
  Cable& cable() { return *cable_; }
  ModelEnd& other() { return static_cast<ModelEnd&>(*cable_->b); }
  int flit_cycles() const {
    const Width w = WidthOf(width());
    return w.flit / (w.lane * link::kLanes);
  }
  void Offer(int packets, int bytes = 100) {
    for (int i = 0; i < packets; ++i) {
      Packet p;
      p.vc = i % 2;
      p.address = next_++;
      p.payload.assign(bytes, static_cast<uint8_t>(i));
      cable_->a->offered.push_back(p);
    }
  }
  // Spoils a bit of the next first flit of a packet with this kind.
  void SpoilNext(Wire* wire, link::Kind kind) {
    wire->spoil = [wire, kind](Symbols* s, int) {
      if ((*s)[0].tag != link::Tag::kStart ||
          ((*s)[0].bytes[0] & 7) != static_cast<int>(kind)) {
        return;
      }
      (*s)[0].bytes[0] ^= 0x80;
      wire->spoil = nullptr;
    };
  }

 private:
  std::unique_ptr<Cable> cable_;
  uint64_t next_ = 0;
};

// A nack leads to one replay, long before the time without progress is over.
TEST_P(ProtocolTest, NackReplaysAtOnce) {
  Cable& c = cable();
  SpoilNext(&c.ab, link::Kind::kWrite);
  Offer(6);
  const int64_t cycles =
      c.Until([&] { return c.b->received.size() == 6; }, 20000);
  EXPECT_GT(cycles, 0);
  EXPECT_LT(cycles, 60 + 100 * flit_cycles());
  EXPECT_EQ(c.a->counters.replays, 1);
  for (int i = 0; i < 5000; ++i) c.Cycle();
  EXPECT_EQ(c.a->counters.replays, 1);
  EXPECT_EQ(c.a->counters.retrains, 0);
  ExpectDelivered(c.a->given, c.b->received);
}

// Two faults one after the other, the second one in the replay.
TEST_P(ProtocolTest, FaultInTheReplay) {
  Cable& c = cable();
  int left = 2, wait = 0;
  c.ab.spoil = [&](Symbols* s, int) {
    if (wait > 0) --wait;
    if (left == 0 || wait > 0 || (*s)[0].tag != link::Tag::kStart ||
        ((*s)[0].bytes[0] & 7) != static_cast<int>(link::Kind::kWrite)) {
      return;
    }
    (*s)[0].bytes[0] ^= 0x80;
    --left;
    wait = 60 * flit_cycles();
  };
  Offer(6);
  const int64_t cycles =
      c.Until([&] { return c.b->received.size() == 6; }, 20000);
  EXPECT_GT(cycles, 0);
  EXPECT_LT(cycles, 120 + 160 * flit_cycles());
  ExpectDelivered(c.a->given, c.b->received);
}

// A lost CTRL packet is made good by the next: credits come back without a
// replay's time.
TEST_P(ProtocolTest, LostControl) {
  Cable& c = cable();
  for (int times = 0; times < 10; ++times) {
    SpoilNext(&c.ba, link::Kind::kCtrl);
    Offer(20, 256);
    ASSERT_GT(c.Until([&] { return c.b->received.size() == 20u * (times + 1); },
                      20000),
              0);
  }
  for (int i = 0; i < 3000; ++i) c.Cycle();
  EXPECT_EQ(c.a->counters.replays, 0);
  ExpectDelivered(c.a->given, c.b->received);
}

// Acks that do not come for a time: packets are sent again, are known as
// those that came before, and cost no further replay.
TEST_P(ProtocolTest, Duplicates) {
  Cable& c = cable();
  bool mute = true;
  c.ba.spoil = [&](Symbols* s, int lane_bytes) {
    if (!mute) return;
    for (Symbol& symbol : *s) {
      symbol.tag = link::Tag::kTrain;
      for (int i = 0; i < lane_bytes; ++i) {
        symbol.bytes[i] = i % 2 ? 0xFF ^ link::kFill : link::kFill;
      }
    }
  };
  Offer(5);
  ASSERT_GT(c.Until([&] { return c.a->counters.replays == 1; }, 20000), 0);
  mute = false;
  for (int i = 0; i < 3000; ++i) c.Cycle();
  Offer(5);
  ASSERT_GT(c.Until([&] { return c.b->received.size() == 10; }, 20000), 0);
  for (int i = 0; i < 3000; ++i) c.Cycle();
  EXPECT_EQ(c.a->counters.replays, 1);
  ExpectDelivered(c.a->given, c.b->received);
}

// Many packets, many times around the numbers, the buffers and the credits.
TEST_P(ProtocolTest, LongStream) {
  Cable& c = cable();
  constexpr size_t kPackets = 3000;
  size_t offered = 0;
  const int64_t cycles = c.Until(
      [&] {
        while (c.a->offered.size() < 2 && offered < kPackets) {
          Offer(1, 1 + static_cast<int>(offered * 7 % 256));
          c.a->offered.back().vc = offered % 3 == 0;
          ++offered;
        }
        return c.b->received.size() == kPackets;
      },
      400000);
  EXPECT_GT(cycles, 0) << Errors(c);
  ExpectDelivered(c.a->given, c.b->received);
  EXPECT_EQ(c.a->counters.replays, 0);
}

// A long packet whose channel is spoilt comes to a buffer with little room,
// where it overwrites nothing.
TEST_P(ProtocolTest, WrongChannel) {
  Cable& c = cable();
  const int bytes = link::kPayloadFlits * c.width.flit;
  c.b->stalls.take = 256;  // never
  Offer(8, bytes);
  for (Packet& p : c.a->offered) p.vc = 1;
  for (int i = 0; i < 3000; ++i) c.Cycle();
  c.ab.spoil = [&](Symbols* s, int) {
    if ((*s)[0].tag != link::Tag::kStart ||
        ((*s)[0].bytes[0] & 7) != static_cast<int>(link::Kind::kWrite)) {
      return;
    }
    (*s)[0].bytes[0] ^= 1 << link::head::kVc.lsb;
    c.ab.spoil = nullptr;
  };
  Packet other = c.a->given.front();
  other.vc = 0;
  c.a->offered.push_front(other);
  for (int i = 0; i < 3000; ++i) c.Cycle();
  c.b->stalls.take = 0;
  ASSERT_GT(c.Until([&] { return c.b->received.size() == 9; }, 20000), 0);
  ExpectDelivered(c.a->given, c.b->received);
}

// A cable that is pulled is noticed in the time that the specification says,
// also while nothing is sent.
TEST_P(ProtocolTest, SignalLost) {
  Cable& c = cable();
  c.ab.spoil = c.ba.spoil = [](Symbols* s, int) { *s = {}; };
  const int64_t cycles =
      c.Until([&] { return !c.a->up() && !c.b->up(); }, 1000);
  EXPECT_GE(cycles, link::kQuietCycles);
  EXPECT_LE(cycles, link::kQuietCycles + 10);
  c.ab.spoil = c.ba.spoil = nullptr;
  EXPECT_GT(c.Until([&] { return c.a->up() && c.b->up(); }, 10000), 0);
  EXPECT_EQ(c.a->down(), link::Cause::kNone);
}

// An event for each packet, byte, and wait.
TEST_P(ProtocolTest, Counters) {
  Cable& c = cable();
  c.b->stalls.take = 255;
  const int bytes = link::kPayloadFlits * c.width.flit;
  Offer(40, bytes);
  ASSERT_GT(c.Until([&] { return c.b->received.size() == 40; }, 400000), 0);
  EXPECT_EQ(c.a->counters.packets_sent, 40);
  EXPECT_EQ(c.a->counters.bytes_sent, 40 * bytes);
  EXPECT_EQ(c.b->counters.packets_received, 40);
  EXPECT_EQ(c.b->counters.bytes_received, 40 * bytes);
  EXPECT_GT(c.a->counters.credit_stalls, 100);
  EXPECT_EQ(c.a->counters.crc_errors, 0);
  EXPECT_EQ(c.a->counters.retrains, 0);
  EXPECT_EQ(c.a->counters.poisons, 0);
}

INSTANTIATE_TEST_SUITE_P(Widths, ProtocolTest,
                         ::testing::Combine(::testing::Values(4, 16, 64),
                                            ::testing::Bool()),
                         CableName);

// Against a model that misbehaves.
using MisuseTest = ProtocolTest;

// Acks of packets that were never sent change nothing.
TEST_P(MisuseTest, AckTooHigh) {
  Cable& c = cable();
  // With a replay before, after which no more count as sent than were.
  SpoilNext(&c.ab, link::Kind::kWrite);
  Offer(6);
  ASSERT_GT(c.Until([&] { return c.b->received.size() == 6; }, 20000), 0);
  EXPECT_GT(c.a->counters.replays, 0);
  for (int ack : {7, 8, 10, 60, 200, 255}) {
    other().wrong_ack = ack;
    other().nacks = 1;  // so that a CTRL packet goes out
    for (int i = 0; i < 600; ++i) c.Cycle();
    EXPECT_FALSE(other().wrong_ack.has_value());
  }
  Offer(6);
  ASSERT_GT(c.Until([&] { return c.b->received.size() == 12; }, 20000), 0)
      << Errors(c);
  ExpectDelivered(c.a->given, c.b->received);
}

// Nacks of nothing cost a replay where something is on its way, no more.
TEST_P(MisuseTest, NacksOfNothing) {
  Cable& c = cable();
  other().nacks = 20;
  for (int i = 0; i < 3000; ++i) c.Cycle();
  EXPECT_EQ(c.a->counters.replays, 0);
  Offer(30);
  other().nacks = 20;
  ASSERT_GT(c.Until([&] { return c.b->received.size() == 30; }, 40000), 0);
  ExpectDelivered(c.a->given, c.b->received);
}

// An end that never acknowledges: MaxReplays replays, a training, and after
// MaxRetrains of them without progress the link is down. What it held is told
// as lost.
TEST_P(MisuseTest, NoAcks) {
  Cable& c = cable();
  other().silent_ack = true;
  Offer(50);
  ASSERT_GT(c.Until([&] { return c.a->down() != link::Cause::kNone; }, 200000),
            0);
  EXPECT_EQ(c.a->down(), link::Cause::kNoProgress);
  EXPECT_EQ(c.a->counters.replays,
            link::kMaxReplays * (link::kMaxRetrains + 1));
  EXPECT_EQ(c.a->counters.retrains, link::kMaxRetrains + 1);
  ASSERT_GE(c.Until([&] { return c.a->offered.empty(); }, 20000), 0);
  for (int i = 0; i < 1000; ++i) c.Cycle();
  ASSERT_EQ(c.a->poisoned.size(), 50u);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(c.a->poisoned[i].address, static_cast<uint64_t>(i));
  // The window: no more packets than half of the numbers were on their way.
  EXPECT_LE(c.b->received.size(), 31u);
}

INSTANTIATE_TEST_SUITE_P(Widths, MisuseTest,
                         ::testing::Combine(::testing::Values(4, 16, 64),
                                            ::testing::Values(true)),
                         CableName);

}  // namespace
}  // namespace systole::link_test
