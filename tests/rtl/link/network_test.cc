// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Two chips of two cores each: registers and counters of the links, packets of
// both cores at one local port, what a link that goes down does.

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "VNetwork16.h"
#include "VNetwork4.h"
#include "tests/rtl/link/end.h"
#include "tests/rtl/link/format.h"
#include "tests/rtl/link/ports.h"
#include "tests/testing/seeds.h"
#include "verilated.h"

namespace systole::link_test {
namespace {

// Registers by word (docs/reference/csr.md), and counters.
enum Register { kCount, kPlace, kTorus, kEnable, kState, kSelect, kCountValue };
enum {
  kPacketsSent,
  kBytesSent,
  kPacketsReceived,
  kBytesReceived,
  kReplays,
  kCrcErrors,
  kStalls,
  kTrainings,
  kGivenUp,
  kCounters
};

template <typename Model, int kFlit, int kLane>
struct Case {
  using Dut = Model;
  static constexpr Width kWidth = {kFlit, kLane};
};

template <typename T>
class NetworkTest : public ::testing::Test {
 protected:
  static constexpr Width kWidth = T::kWidth;
  static constexpr int kLinkBits = 4 * (8 * kWidth.lane + 2);
  using Model = typename T::Dut;

  struct Core {
    std::deque<Packet> offered;
    std::vector<Packet> received;
    std::vector<int64_t> sent;  // cycles in which a packet ended
    int flit = 0;               // of the packet that is being sent
    bool valid = false;
    int downs = 0;
  };
  struct Chip {
    std::unique_ptr<Model> model;
    Core cores[2];
    Packet arriving;
    int arriving_for = 0;
    int down_link = -1;
  };

  NetworkTest() {
    context_.randReset(2);
    context_.randSeed(5);
    context_.fatalOnError(false);
    for (Chip& chip : chips_) {
      chip.model = std::make_unique<Model>(&context_);
      Model& m = *chip.model;
      m.rst_ni = m.send_valid_i = m.recv_ready_i = m.reg_valid_i = 0;
      for (int i = 0; i < 3; ++i) Clock(&m);
      m.rst_ni = 1;
    }
    context_.gotError(false);
  }
  ~NetworkTest() override {
    for (Chip& chip : chips_) chip.model->final();
  }

  // Of the chip through a core's registers; the answer comes a cycle later.
  uint32_t Access(int chip, int core, bool write, int index, uint32_t data) {
    Model& m = *chips_[chip].model;
    m.reg_valid_i = static_cast<uint8_t>(1 << core);
    m.reg_write_i = write;
    m.reg_index_i = static_cast<uint8_t>(index);
    m.reg_data_i = data;
    Cycle();
    m.reg_valid_i = 0;
    m.reg_index_i = static_cast<uint8_t>(random_() & 7);
    m.reg_data_i = static_cast<uint32_t>(random_());
    m.eval();
    EXPECT_EQ(m.ack_o, 1 << core);
    const uint32_t answer = GetBits(m.reg_data_o, 32 * core, 32);
    Cycle();
    m.eval();
    EXPECT_EQ(m.ack_o, 0);
    return answer;
  }
  uint32_t Get(int chip, int index) { return Access(chip, 0, false, index, 0); }
  void Set(int chip, int index, uint32_t data) {
    Access(chip, 0, true, index, data);
  }
  uint32_t Counter(int chip, int link, int counter) {
    Set(chip, kSelect, static_cast<uint32_t>(link << 8 | counter));
    return Get(chip, kCountValue);
  }

  // As a torus of 2 x 1, whose links train.
  void Join() {
    for (uint32_t i = 0; i < 2; ++i) {
      Set(i, kPlace, i);
      Set(i, kTorus, 0x102);
      Set(i, kEnable, 3);
    }
    for (int i = 0; i < 5000 && (Get(0, kState) != 3 || Get(1, kState) != 3);
         ++i) {
      Cycle();
    }
    ASSERT_EQ(Get(0, kState), 3u);
    ASSERT_EQ(Get(1, kState), 3u);
  }

  void Cycle() {
    for (int i = 0; i < 2; ++i) {
      // X+ goes to the other one's X-, and X- to its X+.
      for (int l = 0; l < 2; ++l) {
        for (int b = 0; b < kLinkBits; ++b) {
          const uint64_t bit =
              cut_ ? 0
                   : GetBits(chips_[i].model->lanes_o, l * kLinkBits + b, 1);
          SetBits(&chips_[1 - i].model->lanes_i, (1 - l) * kLinkBits + b, 1,
                  bit);
        }
      }
    }
    for (Chip& chip : chips_) Drive(&chip);
    for (Chip& chip : chips_) Clock(chip.model.get());
    if (context_.gotError()) {
      context_.gotError(false);
      ADD_FAILURE() << "an assertion of the RTL failed, cycle " << cycle_;
    }
    ++cycle_;
  }

  Packet Draw(int chip, int core) {
    Packet p = RandomPacket(&random_, kWidth);
    if (p.kind == link::Kind::kPoison) p.kind = link::Kind::kPost;
    p.vc = 0;
    p.src_x = chip;
    p.src_y = 0;
    p.src_core = core;
    p.dst_x = static_cast<int>(random_() % 2);
    p.dst_y = 0;
    return p;
  }

  size_t Received() const {
    size_t all = 0;
    for (const Chip& chip : chips_)
      for (const Core& core : chip.cores) all += core.received.size();
    return all;
  }
  // Until all that was offered has come.
  void Deliver(size_t packets) {
    const int64_t limit = cycle_ + 400000;
    while (Received() < packets && cycle_ < limit && !HasFailure()) Cycle();
    ASSERT_EQ(Received(), packets);
    for (int i = 0; i < 500; ++i) Cycle();
    ASSERT_EQ(Received(), packets);
  }

  std::mt19937_64 random_{1};
  VerilatedContext context_;
  Chip chips_[2];
  int64_t cycle_ = 0;
  int hold_ = 0;      // chances of 256 that a core takes or gives nothing
  bool cut_ = false;  // no signal

 private:
  static void Clock(Model* m) {
    m->clk_i = 1;
    m->eval();
    m->clk_i = 0;
    m->eval();
  }
  bool Chance(int in_256) { return static_cast<int>(random_() & 255) < in_256; }

  void Drive(Chip* chip) {
    Model& m = *chip->model;
    constexpr int kHead = 63;
    m.recv_ready_i = 0;
    for (int c = 0; c < 2; ++c) {
      Core& core = chip->cores[c];
      if (!Chance(hold_)) m.recv_ready_i |= 1 << c;
      core.valid = !core.offered.empty() && (core.valid || !Chance(hold_));
      SetBits(&m.send_valid_i, c, 1, core.valid);
      if (!core.valid) continue;
      const Packet& p = core.offered.front();
      const auto set = [&](link::Field f, uint64_t value) {
        SetBits(&m.send_head_i, c * kHead + f.lsb, f.bits, value);
      };
      set(link::send::kKind, static_cast<uint64_t>(p.kind));
      set(link::send::kTie, p.tie);
      set(link::send::kLength, p.payload.size());
      set(link::send::kDstX, p.dst_x);
      set(link::send::kDstY, p.dst_y);
      set(link::send::kDstCore, p.dst_core);
      set(link::send::kSrcCore, p.src_core);
      set(link::send::kAddress, p.address);
      SetBits(&m.send_last_i, c, 1,
              core.flit + 1 >= p.FlitCount(kWidth.flit) - 1);
      for (int i = 0; i < kWidth.flit; ++i) {
        const size_t at = static_cast<size_t>(core.flit * kWidth.flit + i);
        SetBits(&m.send_data_i, 8 * (c * kWidth.flit + i), 8,
                at < p.payload.size() ? p.payload[at] : random_() & 255);
      }
    }
    m.eval();
    EXPECT_TRUE(m.equal_o);
    EXPECT_EQ(m.core_o, 2);
    for (int c = 0; c < 2; ++c) {
      Core& core = chip->cores[c];
      if (!core.valid || !(m.send_ready_o >> c & 1)) continue;
      core.valid = false;
      ++core.flit;
      if (!(m.send_last_i >> c & 1)) continue;
      core.flit = 0;
      core.offered.pop_front();
      core.sent.push_back(cycle_);
    }
    EXPECT_EQ(m.send_ready_o & ~m.send_valid_i, 0);
    EXPECT_NE(m.send_ready_o, 3);
    EXPECT_NE(m.recv_valid_o, 3);
    EXPECT_TRUE(m.down_o == 0 || m.down_o == 3);
    for (int c = 0; c < 2; ++c) {
      if (m.down_o >> c & 1) {
        ++chip->cores[c].downs;
        chip->down_link = m.down_link_o;
      }
      if (m.recv_valid_o >> c & m.recv_ready_i >> c & 1) Receive(chip, c);
    }
  }

  void Receive(Chip* chip, int c) {
    const Model& m = *chip->model;
    Bytes head(16);
    for (int i = 0; i < link::kHeadBytes; ++i)
      head[i] = static_cast<uint8_t>(GetBits(m.recv_head_o, 8 * i, 8));
    SetField(head.data(), link::head::kLength, 0);
    const Packet now = PacketOf({head});
    Packet& p = chip->arriving;
    if (p.payload.empty()) {
      p = now;
      chip->arriving_for = c;
    }
    EXPECT_EQ(chip->arriving_for, c) << "in the middle of a packet";
    EXPECT_EQ(now.dst_core, c);
    EXPECT_EQ(now.address, p.address + p.payload.size());
    for (int i = 0; i < kWidth.flit; ++i) {
      if (!GetBits(m.recv_mask_o, i, 1)) continue;
      p.payload.push_back(
          static_cast<uint8_t>(GetBits(m.recv_data_o, 8 * i, 8)));
    }
    if (!m.recv_last_o) return;
    chip->cores[c].received.push_back(p);
    p = Packet();
  }
};

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
  const std::map<int, uint32_t> bits = {{kPlace, 0x1f1f},
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
    EXPECT_EQ(this->Get(0, 7), 0u);
    EXPECT_EQ(m.x_o, want[kPlace] & 31);
    EXPECT_EQ(m.y_o, want[kPlace] >> 8);
    EXPECT_EQ(m.columns_o, want[kTorus] & 63);
    EXPECT_EQ(m.rows_o, want[kTorus] >> 8);
  }
  this->Set(0, kPlace, 0);
  this->Set(0, kTorus, 0x101);
  for (uint32_t links = 0; links < 16; ++links) {
    this->Set(0, kEnable, links | 0xfffffff0);
    EXPECT_EQ(this->Get(0, kEnable), links);
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

}  // namespace
}  // namespace systole::link_test
