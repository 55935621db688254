// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Two chips of two cores each: registers and counters of the links, packets of
// both cores at one local port, what a link that goes down does.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <vector>

#include "VNetwork16.h"
#include "VNetwork4.h"
#include "tests/rtl/link/network_bench.h"
#include "tests/testing/seeds.h"

namespace systole::link_test {
namespace {

using Cases = ::testing::Types<Case<VNetwork4, 16, 1>, Case<VNetwork16, 64, 4>>;
TYPED_TEST_SUITE(NetworkTest, Cases);

TYPED_TEST(NetworkTest, Registers) {
  EXPECT_EQ(this->Get(0, kCount), 4u);
  EXPECT_EQ(this->Get(0, kPlace), 0u);
  EXPECT_EQ(this->Get(0, kTorus), 0x101u);
  EXPECT_EQ(this->Get(0, kEnable), 0u);
  EXPECT_EQ(this->Get(0, kState), 0u);
  std::map<int, uint32_t> want = {
      {kPlace, 0}, {kTorus, 0x101}, {kEnable, 0}, {kSelect, 0}};
  const std::map<int, uint32_t> bits = {{kPlace, 0xffff1f1f},
                                        {kTorus, 0x3f3f},
                                        {kEnable, 0},  // no link is in use
                                        {kSelect, 0x30f}};
  auto& m = *this->chips_[0].model;
  for (int i = 0; i < 400 && !this->HasFailure(); ++i) {
    const int index = static_cast<int>(this->random_() % 8);
    const uint32_t data =
        index == kEnable ? 0 : static_cast<uint32_t>(this->random_());
    const int core = this->random_() % 4 == 0;
    this->Access(0, core, true, index, data);
    if (core == 0 && want.count(index)) want[index] = data & bits.at(index);
    for (const auto& [known, value] : want) {
      EXPECT_EQ(this->Get(0, known), value) << known;
      EXPECT_EQ(this->Access(0, 1, false, known, 0), 0u) << known;
    }
    EXPECT_EQ(this->Get(0, kCount), 4u);
    EXPECT_EQ(this->Get(0, kPeer), 0u);
    EXPECT_EQ(m.x_o, want[kPlace] & 31);
    EXPECT_EQ(m.y_o, want[kPlace] >> 8 & 31);
    EXPECT_EQ(m.columns_o, want[kTorus] & 63);
    EXPECT_EQ(m.rows_o, want[kTorus] >> 8);
  }
  this->Set(0, kPlace, 0);
  this->Set(0, kTorus, 0x101);
  for (uint32_t links = 0; links < 16; ++links) {
    this->Set(0, kEnable, links | 0xfffffef0);
    EXPECT_EQ(this->Get(0, kEnable), links);
    this->Set(0, kEnable, links | 0xfffffff0);
    EXPECT_EQ(this->Get(0, kEnable), links | 0x100);
  }
}

// A link's register says who is at its other end, from its training on.
TYPED_TEST(NetworkTest, ChipsKnowTheirNeighbours) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 2; ++i)
      for (int l = 0; l < 4; ++l) EXPECT_EQ(this->Peer(i, l), 0u);
    this->Join();
    if (this->HasFatalFailure()) return;
    for (int i = 0; i < 400; ++i) this->Cycle();
    for (uint32_t i = 0; i < 2; ++i) {
      for (uint32_t l = 0; l < 2; ++l) {
        EXPECT_EQ(this->Peer(i, l),
                  1u << 31 | (1 - l) << 16 | this->kNumbers[1 - i]);
      }
      for (int l = 2; l < 4; ++l) EXPECT_EQ(this->Peer(i, l), 0u);
    }
    for (int i = 0; i < 2; ++i) this->Set(i, kEnable, 0);
    for (int i = 0; i < 100; ++i) this->Cycle();
  }
}

// The networks of both chips are reset amid traffic: the cores go on sending
// into nothing, and what came in part is forgotten. Afterwards all is as new,
// behind the end of a packet that had begun.
TYPED_TEST(NetworkTest, AResetAmidTraffic) {
  for (const uint64_t seed : testing_options::Seeds(12)) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    this->random_.seed(seed);
    this->Join();
    if (this->HasFatalFailure()) return;
    this->hold_ = seed % 3 == 0 ? 0 : 150;
    for (int i = 0; i < 2; ++i)
      for (int c = 0; c < 2; ++c)
        for (int k = 0; k < 60; ++k)
          this->chips_[i].cores[c].offered.push_back(this->Draw(i, c));
    const uint64_t cycles = this->random_() % 1000;
    for (uint64_t i = 0; i < cycles; ++i) this->Cycle();
    for (int i = 0; i < 2; ++i) this->Set(i, kEnable, 0x100);
    const size_t received = this->Received();
    for (int i = 0; i < 20000; ++i) this->Cycle();
    EXPECT_EQ(this->Received(), received);
    for (auto& chip : this->chips_)
      for (auto& core : chip.cores) EXPECT_TRUE(core.offered.empty());
    // A packet that has begun when the reset ends.
    auto& core = this->chips_[seed % 2].cores[seed / 2 % 2];
    Packet cut = this->Draw(seed % 2, seed / 2 % 2);
    cut.kind = link::Kind::kWrite;
    cut.payload.assign(16 * this->kWidth.flit, 1);
    this->hold_ = 240;
    core.offered.push_back(cut);
    while (core.flit < 3) this->Cycle();
    for (int i = 0; i < 2; ++i) this->Set(i, kEnable, 0);
    ASSERT_FALSE(core.offered.empty());
    this->hold_ = 0;
    std::vector<Packet> want;
    for (auto& chip : this->chips_)
      for (auto& one : chip.cores) one.received.clear();
    for (int i = 0; i < 2; ++i) {
      for (int c = 0; c < 2; ++c) {
        for (int k = 0; k < 10; ++k) {
          want.push_back(this->Draw(i, c));
          this->chips_[i].cores[c].offered.push_back(want.back());
        }
      }
    }
    this->Join();
    this->Deliver(want.size());
    if (this->HasFailure()) return;
    for (auto& chip : this->chips_) {
      for (auto& one : chip.cores) {
        for (const Packet& p : one.received) {
          const auto it = std::find(want.begin(), want.end(), p);
          ASSERT_NE(it, want.end()) << p.Name();
          want.erase(it);
        }
        one.received.clear();
      }
    }
    for (int i = 0; i < 2; ++i) this->Set(i, kEnable, 0);
    for (int i = 0; i < 100; ++i) this->Cycle();
  }
}

// All cores send to all, also to themselves; each packet comes whole to the
// core that it is for, those of a flow in order, and the counters know all
// that took a link.
TYPED_TEST(NetworkTest, PacketsAndCounters) {
  this->Join();
  if (this->HasFatalFailure()) return;
  using Flow = std::array<int, 5>;
  std::map<Flow, std::deque<Packet>> want;
  uint32_t packets[2][2] = {}, bytes[2][2] = {};  // from that chip by that link
  size_t all = 0;
  for (const uint64_t seed : testing_options::Seeds(4)) {
    this->random_.seed(seed);
    this->hold_ = seed % 2 ? 0 : 100;
    for (int i = 0; i < 2; ++i) {
      for (int c = 0; c < 2; ++c) {
        for (int k = 0; k < 60; ++k) {
          const Packet p = this->Draw(i, c);
          this->chips_[i].cores[c].offered.push_back(p);
          want[{p.src_x, p.src_core, p.dst_x, p.dst_core, p.tie}].push_back(p);
          ++all;
          if (p.dst_x == i) continue;
          ++packets[i][p.tie];
          bytes[i][p.tie] += static_cast<uint32_t>(p.payload.size());
        }
      }
    }
    this->Deliver(all);
    if (this->HasFailure()) return;
  }
  for (int i = 0; i < 2; ++i) {
    for (int c = 0; c < 2; ++c) {
      for (const Packet& p : this->chips_[i].cores[c].received) {
        ASSERT_TRUE(p.dst_x == i && p.dst_core == c) << p.Name();
        auto& flow = want[{p.src_x, p.src_core, p.dst_x, p.dst_core, p.tie}];
        ASSERT_FALSE(flow.empty()) << p.Name();
        ASSERT_TRUE(flow.front() == p) << p.Name();
        flow.pop_front();
      }
    }
    for (int l = 0; l < 2; ++l) {
      SCOPED_TRACE(testing::Message() << "chip " << i << " link " << l);
      // With tie 0 they went by X+ and came by the other's X-.
      EXPECT_EQ(this->Counter(i, l, kPacketsSent), packets[i][l]);
      EXPECT_EQ(this->Counter(i, l, kBytesSent), bytes[i][l]);
      EXPECT_EQ(this->Counter(i, l, kPacketsReceived), packets[1 - i][1 - l]);
      EXPECT_EQ(this->Counter(i, l, kBytesReceived), bytes[1 - i][1 - l]);
      EXPECT_EQ(this->Counter(i, l, kReplays), 0u);
      EXPECT_EQ(this->Counter(i, l, kCrcErrors), 0u);
      EXPECT_EQ(this->Counter(i, l, kGivenUp), 0u);
      EXPECT_EQ(this->Counter(i, l, kTrainings), 0u);  // after the first
      for (int none = kCounters; none < 16; ++none)
        EXPECT_EQ(this->Counter(i, l, none), 0u);
    }
    for (int l = 2; l < 4; ++l)
      EXPECT_EQ(this->Counter(i, l, kPacketsSent), 0u);
    EXPECT_EQ(this->chips_[i].cores[0].downs, 0);
  }
}

// A cable that is pulled for a while.
TYPED_TEST(NetworkTest, CountersOfErrors) {
  this->Join();
  if (this->HasFatalFailure()) return;
  const uint32_t before = this->Counter(0, 0, kTrainings);
  for (int k = 0; k < 200; ++k) {
    Packet p = this->Draw(0, k % 2);
    p.dst_x = 1;
    p.tie = 0;
    this->chips_[0].cores[k % 2].offered.push_back(p);
  }
  for (int i = 0; i < 60; ++i) this->Cycle();
  this->cut_ = true;
  for (int i = 0; i < 100; ++i) this->Cycle();
  this->cut_ = false;
  this->Deliver(200);
  if (this->HasFailure()) return;
  EXPECT_GT(this->Counter(0, 0, kTrainings), before);
  EXPECT_GE(this->Counter(0, 0, kPacketsSent), 200u);
  EXPECT_EQ(this->Counter(1, 1, kPacketsReceived), 200u);
  EXPECT_EQ(this->Counter(0, 1, kPacketsSent), 0u);
  EXPECT_GT(this->Counter(0, 0, kStalls), 0u);
}

// Packet by packet while both have one.
TYPED_TEST(NetworkTest, CoresSendInTurn) {
  this->Join();
  if (this->HasFatalFailure()) return;
  for (int c = 0; c < 2; ++c) {
    for (int k = 0; k < 50; ++k) {
      Packet p = this->Draw(0, c);
      p.dst_x = k % 2;
      this->chips_[0].cores[c].offered.push_back(p);
    }
  }
  this->Deliver(100);
  if (this->HasFailure()) return;
  const auto& first = this->chips_[0].cores[0].sent;
  const auto& second = this->chips_[0].cores[1].sent;
  ASSERT_EQ(first.size(), 50u);
  ASSERT_EQ(second.size(), 50u);
  for (size_t k = 1; k < 50; ++k) {
    EXPECT_LT(first[k - 1], second[k]);
    EXPECT_LT(second[k - 1], first[k]);
  }
}

// The other end of a link loses its state: both cores are told once, of that
// link; what would take it comes back to the core that sent it; enabled anew,
// both ends work again.
TYPED_TEST(NetworkTest, ALinkGoesDown) {
  this->Join();
  if (this->HasFatalFailure()) return;
  for (int round = 0; round < 2; ++round) {
    const int link = round;  // of chip 0; the other end is 1 - link
    SCOPED_TRACE(testing::Message() << "link " << link);
    const uint32_t other = 1u << (1 - link);
    for (auto& chip : this->chips_)
      for (auto& core : chip.cores) core.received.clear();
    for (int k = 0; k < 4; ++k) {
      Packet p = this->Draw(0, k % 2);
      p.dst_x = 1;
      p.tie = link;
      this->chips_[0].cores[k % 2].offered.push_back(p);
    }
    this->Deliver(4);
    if (this->HasFailure()) return;
    this->Set(1, kEnable, 3 & ~other);
    for (int i = 0; i < 50; ++i) this->Cycle();
    this->Set(1, kEnable, 3);
    const int downs = this->chips_[0].cores[0].downs;
    for (int i = 0; i < 5000; ++i) this->Cycle();
    const uint32_t state = this->Get(0, kState);
    EXPECT_EQ(state & 0xf, 3u & ~(1u << link));
    EXPECT_EQ(state >> 8 & 0xf, 1u << link);
    EXPECT_EQ(state >> 16, static_cast<uint32_t>(link::Cause::kPeerReset)
                               << 2 * link);
    for (auto& core : this->chips_[0].cores) EXPECT_EQ(core.downs, downs + 1);
    EXPECT_EQ(this->chips_[0].down_link, link);
    // What is given to it comes back.
    for (int c = 0; c < 2; ++c) {
      for (int k = 0; k < 3; ++k) {
        Packet p = this->Draw(0, c);
        p.dst_x = 1;
        p.tie = link;
        this->chips_[0].cores[c].offered.push_back(p);
        const size_t before = this->chips_[0].cores[c].received.size();
        for (int i = 0; i < 1000; ++i) this->Cycle();
        const auto& back = this->chips_[0].cores[c].received;
        ASSERT_EQ(back.size(), before + 1);
        EXPECT_EQ(back.back().kind, link::Kind::kPoison);
        EXPECT_EQ(back.back().address, p.address);
      }
    }
    EXPECT_EQ(this->Counter(0, link, kGivenUp), 6u);
    for (int i = 0; i < 2; ++i) this->Set(i, kEnable, 0);
    for (int i = 0; i < 100; ++i) this->Cycle();
    EXPECT_EQ(this->Get(0, kState), 0u);
    this->Join();
    if (this->HasFailure()) return;
  }
}

// The cores are told of a link that goes down in the cycle in which its
// register says so, for one cycle.
TYPED_TEST(NetworkTest, TheCoresAreToldInTheCycleOfTheRegister) {
  this->Join();
  if (this->HasFatalFailure()) return;
  Packet p = this->Draw(0, 0);
  p.dst_x = 1;
  p.tie = 0;
  this->chips_[0].cores[0].offered.push_back(p);
  this->Deliver(1);
  this->Set(1, kEnable, 1);  // the other end of link 0
  for (int i = 0; i < 50; ++i) this->Cycle();
  this->Set(1, kEnable, 3);
  auto& m = *this->chips_[0].model;
  m.reg_valid_i = 1;
  m.reg_write_i = 0;
  m.reg_index_i = kState;
  bool before = false;
  int told = 0;
  for (int i = 0; i < 5000; ++i) {
    this->Cycle();
    m.eval();
    const bool down = GetBits(m.reg_data_o, 8, 1) != 0;
    EXPECT_EQ(m.down_o, down && !before ? 3 : 0) << i;
    told += m.down_o != 0;
    before = down;
  }
  m.reg_valid_i = 0;
  EXPECT_EQ(told, 1);
}

// A reset clears counters and registers, and what was to be told.
TYPED_TEST(NetworkTest, AResetClearsAll) {
  this->Join();
  if (this->HasFatalFailure()) return;
  for (int k = 0; k < 12; ++k) {
    Packet p = this->Draw(k % 2, k % 3 == 0);
    p.dst_x = 1 - p.src_x;
    this->chips_[k % 2].cores[k % 3 == 0].offered.push_back(p);
  }
  this->Deliver(12);
  if (this->HasFailure()) return;
  EXPECT_NE(
      this->Counter(0, 0, kPacketsSent) + this->Counter(0, 1, kPacketsSent),
      0u);
  this->Set(0, kSelect, 0x305);
  for (auto& chip : this->chips_) {
    chip.model->rst_ni = 0;
    chip.model->reg_valid_i = 0;
  }
  this->Cycle();
  for (auto& chip : this->chips_) chip.model->rst_ni = 1;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(this->chips_[0].model->down_o, 0) << i;
    EXPECT_EQ(this->chips_[0].model->ack_o, 0) << i;
    this->Cycle();
  }
  EXPECT_EQ(this->Get(0, kPlace), 0u);
  EXPECT_EQ(this->Get(0, kTorus), 0x101u);
  EXPECT_EQ(this->Get(0, kEnable), 0u);
  EXPECT_EQ(this->Get(0, kSelect), 0u);
  for (int c = 0; c < 2; ++c) {
    for (int l = 0; l < 4; ++l) {
      for (int k = 0; k < kCounters; ++k)
        EXPECT_EQ(this->Counter(c, l, k), 0u) << l << " " << k;
    }
  }
}

}  // namespace
}  // namespace systole::link_test
