// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Links without errors: training, order, credits, rates, latencies; against
// the model and against each other.

#include "gtest/gtest.h"
#include "tests/rtl/link/cables.h"
#include "tests/testing/seeds.h"

namespace systole::link_test {
namespace {

using LinkTest = CableTest;
using LatencyTest = CableTest;  // not of the model, whose own says nothing

TEST_P(LinkTest, Trains) {
  for (const int delay : {1, 7, 40}) {
    Cable c = Connect(width(), model(), 5, delay);
    const int64_t cycles =
        c.Until([&] { return c.a->up() && c.b->up(); }, 2000);
    EXPECT_GT(cycles, 0) << Errors(c);
    RecordProperty("cycles", static_cast<int>(cycles));
  }
}

// Each end is told who the other one is, and forgets it with its reset.
TEST_P(LinkTest, EndsKnowEachOther) {
  Cable c = Connect(width(), model(), 5, 8);
  std::mt19937_64 random(1);
  for (int round = 0; round < 4; ++round) {
    c.a->identity = static_cast<int>(random() & 0x3ffff);
    c.b->identity = static_cast<int>(random() & 0x3ffff);
    EXPECT_EQ(c.a->peer(), -1);
    EXPECT_EQ(c.b->peer(), -1);
    ASSERT_GT(
        c.Until([&] { return c.a->peer() != -1 && c.b->peer() != -1; }, 3000),
        0)
        << Errors(c);
    for (int i = 0; i < 500; ++i) {
      EXPECT_EQ(c.a->peer(), c.b->identity);
      EXPECT_EQ(c.b->peer(), c.a->identity);
      c.Cycle();
    }
    // Another one takes its place.
    c.b->Reset();
    c.b->identity ^= 0x15a5a;
    ASSERT_GT(c.Until([&] { return c.a->peer() == c.b->identity; }, 20000), 0)
        << Errors(c);
    c.a->Reset();
    c.b->Reset();
    for (int i = 0; i < 20; ++i) c.Cycle();  // what is on the wires
  }
}

TEST_P(LinkTest, DeliversInOrder) {
  for (const uint64_t seed : testing_options::Seeds(8)) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Cable c = Connect(width(), model(), seed, 1 + random() % 12);
    c.a->stalls = {static_cast<int>(random() % 200),
                   static_cast<int>(random() % 200)};
    c.b->stalls = {static_cast<int>(random() % 200),
                   static_cast<int>(random() % 200)};
    for (int i = 0; i < 300; ++i) {
      c.a->offered.push_back(RandomPacket(&random, c.width));
      c.b->offered.push_back(RandomPacket(&random, c.width));
    }
    const int64_t cycles = c.Until(
        [&] { return c.a->received.size() + c.b->received.size() == 600; },
        600000);
    ASSERT_GT(cycles, 0) << Errors(c) << c.a->received.size() << " and "
                         << c.b->received.size() << " packets";
    ExpectDelivered(c.a->given, c.b->received);
    ExpectDelivered(c.b->given, c.a->received);
    EXPECT_EQ(c.a->counters.packets_received, 300);
    EXPECT_EQ(c.a->counters.crc_errors, 0);
    EXPECT_EQ(c.a->counters.replays, 0);
  }
}

// A stream of whole packets in both directions, and its payload a cycle: 16
// of 17 flits are payload, of which 95 % get through, and 90 % with stalls.
TEST_P(LinkTest, Rate) {
  for (const bool stalls : {false, true}) {
    Cable c = Connect(width(), model(), 3, 8);
    ASSERT_GE(c.Until([&] { return c.a->up() && c.b->up(); }, 2000), 0);
    std::mt19937_64 random(9);
    const int flit = c.width.flit;
    // A user that takes four of five flits takes more than comes in where a
    // flit takes four cycles; elsewhere it takes 98 of 100.
    if (stalls) c.a->stalls = c.b->stalls = {width() == 4 ? 51 : 5, 0};
    const auto offer = [&](End* end) {
      while (end->offered.size() < 4) {
        Packet p = RandomPacket(&random, c.width);
        p.kind = link::Kind::kWrite;
        p.payload.assign(link::kPayloadFlits * flit, 7);
        end->offered.push_back(p);
      }
    };
    const auto run = [&](int cycles) {
      for (int i = 0; i < cycles; ++i) {
        offer(c.a.get());
        offer(c.b.get());
        c.Cycle();
      }
    };
    run(2000);
    const int64_t a = c.a->counters.bytes_received,
                  b = c.b->counters.bytes_received;
    constexpr int kCycles = 20000;
    run(kCycles);
    EXPECT_EQ(Errors(c), "");
    const double most = width() * 16.0 / 17;
    const double to_a = (c.a->counters.bytes_received - a) / (kCycles * most);
    const double to_b = (c.b->counters.bytes_received - b) / (kCycles * most);
    RecordProperty(stalls ? "stalled_permille" : "permille",
                   static_cast<int>(1000 * std::min(to_a, to_b)));
    EXPECT_GE(to_b, stalls ? 0.90 : 0.95);
    if (!model()) {
      EXPECT_GE(to_a, stalls ? 0.90 : 0.95);
    }
  }
}

// Cycles from the flit of a post at the router of one end to the router of
// the other, without the wire: docs/link.md.
TEST_P(LatencyTest, Post) {
  constexpr int kDelay = 5;
  Cable c = Connect(width(), false, 3, kDelay);
  ASSERT_GE(c.Until([&] { return c.a->up() && c.b->up(); }, 2000), 0);
  for (int i = 0; i < 1000; ++i) c.Cycle();
  int64_t least = 1000, most = 0;
  for (int i = 0; i < 400; ++i) {
    Packet p;
    p.kind = link::Kind::kPost;
    c.a->offered.push_back(p);
    const size_t before = c.b->received.size();
    const int64_t cycles =
        c.Until([&] { return c.b->received.size() > before; }, 1000);
    ASSERT_GT(cycles, 0);
    const int64_t own = cycles - 1 - kDelay;  // it is chosen in the first one
    least = std::min(least, own);
    most = std::max(most, own);
    for (int k = 0; k < 67 + i; ++k) c.Cycle();
  }
  RecordProperty("cycles", static_cast<int>(most));
  const int flit = c.width.flit / width();  // cycles of a flit
  EXPECT_LE(least, 8 + 3 * flit);
  EXPECT_LE(most, 8 + 4 * flit);  // behind a CTRL packet
}

INSTANTIATE_TEST_SUITE_P(Widths, LatencyTest,
                         ::testing::Combine(::testing::Values(4, 16, 64),
                                            ::testing::Values(false)),
                         CableName);
INSTANTIATE_TEST_SUITE_P(Widths, LinkTest,
                         ::testing::Combine(::testing::Values(4, 16, 64),
                                            ::testing::Bool()),
                         CableName);

}  // namespace
}  // namespace systole::link_test
