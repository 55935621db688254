// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Two chips of two cores each: Verilated networks, their cores, the cables.

#ifndef SYSTOLE_TESTS_RTL_LINK_NETWORK_BENCH_H_
#define SYSTOLE_TESTS_RTL_LINK_NETWORK_BENCH_H_

#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/rtl/link/end.h"
#include "tests/rtl/link/format.h"
#include "tests/rtl/link/ports.h"
#include "verilated.h"

namespace systole::link_test {

// Registers by word (docs/reference/csr.md), and counters.
enum Register {
  kCount,
  kPlace,
  kTorus,
  kEnable,
  kState,
  kSelect,
  kCountValue,
  kPeer
};
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
  static constexpr uint32_t kNumbers[] = {0x8421, 0x7bde};  // of the chips
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
  uint32_t Peer(int chip, int link) {
    Set(chip, kSelect, static_cast<uint32_t>(link << 8));
    return Get(chip, kPeer);
  }
  uint32_t Counter(int chip, int link, int counter) {
    Set(chip, kSelect, static_cast<uint32_t>(link << 8 | counter));
    return Get(chip, kCountValue);
  }

  // As a torus of 2 x 1, whose links train.
  void Join() {
    for (uint32_t i = 0; i < 2; ++i) {
      Set(i, kPlace, kNumbers[i] << 16 | i);
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
    if (m.clear_o) {
      EXPECT_EQ(m.recv_valid_o, 0);
      chip->arriving = Packet();
    }
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

}  // namespace systole::link_test

#endif  // SYSTOLE_TESTS_RTL_LINK_NETWORK_BENCH_H_
