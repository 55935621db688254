// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Whole networks: chips with router, four links and the local port, joined by
// wires that may spoil what they carry. What a core sends arrives once, whole
// and in order, or comes back as POISON when a link is down.

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "VLinkNode16.h"
#include "VLinkNode16Flit64.h"
#include "VLinkNode4.h"
#include "VLinkNode64.h"
#include "gtest/gtest.h"
#include "tests/rtl/link/network.h"
#include "tests/testing/long.h"
#include "tests/testing/seeds.h"

namespace systole::link_test {
namespace {

template <typename Model, int kFlit, int kLane>
struct Case {
  using Net = Network<Model>;
  static constexpr Width kWidth = {kFlit, kLane};
};

template <typename T>
class NodeTest : public ::testing::Test {
 protected:
  using Net = typename T::Net;
  static constexpr Width kWidth = T::kWidth;

  static Packet Draw(std::mt19937_64* random, int x, int y, int dst_x,
                     int dst_y) {
    Packet p = RandomPacket(random, kWidth);
    if (p.kind == link::Kind::kPoison) p.kind = link::Kind::kPost;
    p.vc = 0;
    p.src_x = x;
    p.src_y = y;
    p.dst_x = dst_x;
    p.dst_y = dst_y;
    return p;
  }

  static void Train(Net* net) {
    while (!net->up() && net->cycle() < 3000) net->Cycle();
    ASSERT_TRUE(net->up());
    for (int i = 0; i < 400; ++i) net->Cycle();
    for (size_t c = 0; c < net->chips().size(); ++c) {
      const auto& m = *net->chips()[c].model;
      EXPECT_EQ(m.peer_known_o, m.enable_i);
      for (int l = 0; l < kLinks; ++l) {
        if (m.enable_i >> l & 1)
          EXPECT_EQ(GetBits(m.peer_o, 18 * l, 18), net->Peer(c, l));
      }
    }
  }

  using Flow = std::array<int, 7>;
  static Flow FlowOf(const Packet& p) {
    return {p.src_x, p.src_y, p.src_core, p.dst_x, p.dst_y, p.dst_core, p.tie};
  }

  // Random packets of every chip for every chip.
  static void Deliver(Net* net, int columns, int rows, int packets,
                      std::mt19937_64* random) {
    std::map<Flow, std::deque<Packet>> want;
    for (int x = 0; x < columns; ++x) {
      for (int y = 0; y < rows; ++y) {
        for (int i = 0; i < packets; ++i) {
          const int to = static_cast<int>((*random)() % (columns * rows));
          Packet p = Draw(random, x, y, to % columns, to / columns);
          net->chip(x, y).offered.push_back(p);
          want[FlowOf(p)].push_back(p);
        }
      }
    }
    const size_t all = static_cast<size_t>(columns) * rows * packets;
    size_t there = 0, before = 0;
    for (int idle = 0; there < all && idle < 60000 && !net->failed(); ++idle) {
      net->Cycle();
      there = 0;
      for (const auto& chip : net->chips()) there += chip.received.size();
      if (there != before) idle = 0;
      before = there;
    }
    ASSERT_FALSE(net->failed()) << "an assertion or an address";
    ASSERT_EQ(there, all) << "nothing has moved for 60000 cycles";
    for (int x = 0; x < columns; ++x) {
      for (int y = 0; y < rows; ++y) {
        for (const Packet& p : net->chip(x, y).received) {
          ASSERT_TRUE(p.dst_x == x && p.dst_y == y) << p.Name();
          auto& flow = want[FlowOf(p)];
          ASSERT_FALSE(flow.empty()) << "came twice: " << p.Name();
          ASSERT_TRUE(flow.front() == p)
              << flow.front().Name() << "; came " << p.Name();
          flow.pop_front();
        }
        EXPECT_TRUE(net->chip(x, y).poisoned.empty());
      }
    }
  }
};

using Cases =
    ::testing::Types<Case<VLinkNode4, 16, 1>, Case<VLinkNode16, 16, 4>,
                     Case<VLinkNode64, 64, 16>, Case<VLinkNode16Flit64, 64, 4>>;
TYPED_TEST_SUITE(NodeTest, Cases);

TYPED_TEST(NodeTest, Device) {
  for (const uint64_t seed : testing_options::Seeds(4)) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    typename TestFixture::Net net(2, 2, this->kWidth, seed, 1 + random() % 9);
    net.hold = seed % 2 ? 0 : 80;
    this->Train(&net);
    this->Deliver(&net, 2, 2, 60, &random);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(NodeTest, RingsAndTori) {
  const int sizes[][2] = {{3, 1}, {1, 4}, {5, 1}, {4, 4}};
  for (const auto& size : sizes) {
    SCOPED_TRACE(testing::Message() << size[0] << " x " << size[1]);
    std::mt19937_64 random(size[0] + 7 * size[1]);
    typename TestFixture::Net net(size[0], size[1], this->kWidth, 1, 5);
    this->Train(&net);
    this->Deliver(&net, size[0], size[1], 20, &random);
    if (this->HasFatalFailure()) return;
  }
}

// All wires of a device flip bits.
TYPED_TEST(NodeTest, SpoiltWires) {
  for (const uint64_t seed :
       testing_options::Seeds(testing_options::Sized(2, 30))) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Flipper flipper(seed);
    typename TestFixture::Net net(2, 2, this->kWidth, seed, 4);
    this->Train(&net);
    const int one_in = 100 * this->kWidth.flit / (4 * this->kWidth.lane);
    for (Wire& wire : net.wires()) {
      wire.spoil = [&flipper, one_in](Symbols* s, int lane_bytes) {
        if (flipper.random() % one_in == 0) flipper.Flip(s, lane_bytes);
      };
    }
    this->Deliver(&net, 2, 2, 100, &random);
    if (this->HasFatalFailure()) return;
    EXPECT_GT(flipper.flips, 50);
  }
}

// A stream of whole packets from core to core of neighbours.
TYPED_TEST(NodeTest, Rate) {
  typename TestFixture::Net net(2, 1, this->kWidth, 1, 8);
  this->Train(&net);
  std::mt19937_64 random(1);
  constexpr int kPackets = 80, kFirst = 20;
  for (int i = 0; i < kPackets; ++i) {
    Packet p = this->Draw(&random, 0, 0, 1, 0);
    p.kind = link::Kind::kWrite;
    p.tie = 0;
    p.payload.assign(link::kPayloadFlits * this->kWidth.flit, 1);
    net.chip(0, 0).offered.push_back(p);
  }
  auto& to = net.chip(1, 0);
  while (to.received.size() < kPackets && net.cycle() < 20000) net.Cycle();
  ASSERT_EQ(to.received.size(), static_cast<size_t>(kPackets));
  const double cycles = static_cast<double>(to.when.back() - to.when[kFirst]);
  const int link_bytes = this->kWidth.lane * link::kLanes;
  const double rate = (kPackets - 1 - kFirst) * link::kPayloadFlits *
                      this->kWidth.flit / (cycles * link_bytes * 16 / 17);
  this->RecordProperty("permille", static_cast<int>(1000 * rate));
  EXPECT_GE(rate, 0.95);
}

// Cycles from the cycle in which a core gives a post to the one in which it
// comes out at the neighbour, without those of the wire.
TYPED_TEST(NodeTest, LatencyOfAPost) {
  constexpr int kDelay = 4;
  typename TestFixture::Net net(2, 2, this->kWidth, 1, kDelay);
  this->Train(&net);
  for (int i = 0; i < 500; ++i) net.Cycle();
  std::mt19937_64 random(1);
  int64_t least = 1000, most = 0;
  for (int i = 0; i < 60; ++i) {
    Packet p = this->Draw(&random, 0, 0, 1, 0);
    p.kind = link::Kind::kPost;
    p.payload.clear();
    net.chip(0, 0).offered.push_back(p);
    const int64_t start = net.cycle();
    auto& to = net.chip(1, 0);
    const size_t before = to.received.size();
    while (to.received.size() == before && net.cycle() < start + 500) {
      net.Cycle();
    }
    const int64_t cycles = to.when.back() - start - kDelay;
    least = std::min(least, cycles);
    most = std::max(most, cycles);
    for (int k = 0; k < 80 + i; ++k) net.Cycle();
  }
  this->RecordProperty("least", static_cast<int>(least));
  this->RecordProperty("most", static_cast<int>(most));
  const int flit = this->kWidth.flit / (this->kWidth.lane * link::kLanes);
  EXPECT_EQ(least, 15 + flit);
  EXPECT_LE(most, 15 + 3 * flit);
  // Each further hop.
  int64_t two = 1000;
  for (int i = 0; i < 30; ++i) {
    Packet p = this->Draw(&random, 0, 0, 1, 1);
    p.kind = link::Kind::kPost;
    p.payload.clear();
    net.chip(0, 0).offered.push_back(p);
    const int64_t start = net.cycle();
    auto& to = net.chip(1, 1);
    const size_t before = to.received.size();
    while (to.received.size() == before && net.cycle() < start + 500) {
      net.Cycle();
    }
    two = std::min(two, to.when.back() - start - 2 * kDelay);
    for (int k = 0; k < 80 + i; ++k) net.Cycle();
  }
  // A flit that takes several cycles may wait for its turn.
  EXPECT_GE(two, least + 12 + flit);
  EXPECT_LE(two, least + 11 + 2 * flit);
}

// A link that is down: packets that would take it come back to their source
// as POISON, all others arrive.
TYPED_TEST(NodeTest, LinkDown) {
  typename TestFixture::Net net(2, 2, this->kWidth, 1, 4);
  this->Train(&net);
  std::mt19937_64 random(1);
  this->Deliver(&net, 2, 2, 20, &random);
  if (this->HasFatalFailure()) return;
  // The cable between X+ of (0, 0) and X- of (1, 0).
  net.wire(0, 0, 0).spoil =
      net.wire(1, 0, 1).spoil = [](Symbols* s, int) { *s = {}; };
  auto& source = net.chip(0, 0);
  for (int i = 0; i < 60000 && !source.model->down_o; ++i) net.Cycle();
  EXPECT_EQ(source.model->down_o, 1);
  EXPECT_EQ(source.model->cause_o & 3,
            static_cast<int>(link::Cause::kNoProgress));
  EXPECT_EQ(net.chip(1, 0).model->down_o, 2);
  for (auto& chip : net.chips()) chip.received.clear();
  std::vector<Packet> lost, whole;
  for (int i = 0; i < 40; ++i) {
    Packet p = this->Draw(&random, 0, 0, 1, i % 3 == 0);
    (p.tie == 0 ? lost : whole).push_back(p);
    source.offered.push_back(p);
  }
  for (int i = 0; i < 20000; ++i) net.Cycle();
  EXPECT_FALSE(net.failed());
  EXPECT_TRUE(source.offered.empty());
  ASSERT_EQ(source.poisoned.size(), lost.size());
  for (size_t i = 0; i < lost.size(); ++i) {
    EXPECT_EQ(source.poisoned[i].address, lost[i].address);
    EXPECT_EQ(source.poisoned[i].dst_core, lost[i].src_core);
  }
  EXPECT_EQ(net.chip(1, 0).received.size() + net.chip(1, 1).received.size(),
            whole.size());
}

}  // namespace
}  // namespace systole::link_test
