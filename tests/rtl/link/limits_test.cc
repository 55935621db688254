// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How much a link takes before it waits, to the flit: credits of the other
// end's buffer, packets that are not acknowledged, the replay buffer.

#include "gtest/gtest.h"
#include "tests/rtl/link/cables.h"

namespace systole::link_test {
namespace {

constexpr int kBuffer = 128;  // flits, of the receiver and for replays
constexpr int kLongest = link::kPayloadFlits + 1;

class LimitsTest : public ::testing::TestWithParam<int> {
 protected:
  int width() const { return GetParam(); }
  Cable Up(bool model) {
    Cable c = Connect(width(), model, 31, 4);
    EXPECT_GE(c.Until([&] { return c.a->up() && c.b->up(); }, 3000), 0);
    for (int i = 0; i < 600; ++i) c.Cycle();
    return c;
  }
  // A packet of so many flits.
  Packet Flits(int flits, int vc = 0) const {
    Packet p;
    p.vc = vc;
    if (flits == 1) {
      p.kind = link::Kind::kPost;
    } else {
      p.payload.assign((flits - 1) * WidthOf(width()).flit, 0x5a);
    }
    return p;
  }
};

// A packet is chosen while there is room for a longest one and a flit more,
// which may come in that cycle, and no less: so many flits of the buffer less
// two are never used by packets of one flit. One has left it for the reader,
// who does not take it.
TEST_P(LimitsTest, CreditsOfABuffer) {
  for (const int vc : {0, 1}) {
    Cable c = Up(false);
    c.b->stalls.take = 256;  // never
    for (int i = 0; i < 2 * kBuffer; ++i) c.a->offered.push_back(Flits(1, vc));
    for (int i = 0; i < 20000; ++i) c.Cycle();
    EXPECT_EQ(c.a->given.size(), kBuffer - kLongest + 2u) << vc;
    c.b->stalls.take = 0;
    EXPECT_GT(
        c.Until([&] { return c.b->received.size() == 2u * kBuffer; }, 40000), 0)
        << Errors(c);
  }
}

// 31 packets are on their way, and no more.
TEST_P(LimitsTest, PacketsThatAreNotAcknowledged) {
  Cable c = Up(true);
  static_cast<ModelEnd&>(*c.b).silent_ack = true;
  for (int i = 0; i < 60; ++i) c.a->offered.push_back(Flits(1));
  for (int i = 0; i < 500 * kLongest; ++i) c.Cycle();
  EXPECT_EQ(c.a->given.size(), 31u);
}

// The replay buffer takes a packet while a longest one and a flit more have
// room in it.
TEST_P(LimitsTest, FlitsOfTheReplayBuffer) {
  constexpr int kFull = kBuffer - kLongest - 1;  // flits beside which there is
  for (const int flits : {kFull - 1, kFull, kFull + 1}) {
    Cable c = Up(true);
    auto& other = static_cast<ModelEnd&>(*c.b);
    other.silent_ack = true;
    int left = flits;
    for (; left > kLongest; left -= kLongest)
      c.a->offered.push_back(Flits(kLongest, left / kLongest % 2));
    c.a->offered.push_back(Flits(left, 1));
    const size_t all = c.a->offered.size();
    for (int i = 0; i < 800; ++i) c.Cycle();
    ASSERT_EQ(c.a->given.size(), all) << flits;
    c.a->offered.push_back(Flits(1));
    for (int i = 0; i < 100; ++i) c.Cycle();
    EXPECT_EQ(c.a->given.size(), all + (flits <= kFull)) << flits;
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, LimitsTest, ::testing::Values(4, 16, 64));

}  // namespace
}  // namespace systole::link_test
