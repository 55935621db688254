// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What a core receives: random packets, with gaps, for a memory that stalls.
// Each byte is written once, in order, in as few beats as there are; posts and
// lost packets are told when the memory has all that came before.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "VGather128.h"
#include "VGather32.h"
#include "VGather512.h"
#include "systole/gen/isa.h"
#include "tests/rtl/link/format.h"
#include "tests/rtl/link/ports.h"
#include "tests/testing/seeds.h"
#include "verilated.h"

namespace systole::link_test {
namespace {

constexpr int kMemBits = 20;

template <typename Model, int kBeat, int kFlit>
struct Case {
  using Dut = Model;
  static constexpr int kBeatBytes = kBeat, kFlitBytes = kFlit;
};

// Chances in 256 a cycle.
struct Holds {
  int gap = 0;          // nothing comes
  int beat = 0;         // the memory refuses
  int64_t cut_at = -1;  // no more from that cycle on
};

template <typename T>
class GatherTest : public ::testing::Test {
 protected:
  static constexpr int kBeat = T::kBeatBytes, kFlit = T::kFlitBytes;

  GatherTest() { Start(1); }
  ~GatherTest() override { dut_->final(); }

  void Start(uint64_t seed) {
    random_.seed(seed);
    if (dut_) dut_->final();
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed) | 1);
    context_.fatalOnError(false);
    dut_ = std::make_unique<typename T::Dut>(&context_);
    Reset();
  }
  void Reset() {
    auto& m = *dut_;
    m.clk_i = m.rst_ni = m.clear_i = 0;
    m.eval();
    m.valid_i = 1;
    m.wr_ready_i = 1;
    for (int i = 0; i < 3; ++i) {
      Clock();
      EXPECT_FALSE(m.wr_valid_o || m.post_o || m.lost_o);
    }
    context_.gotError(false);
    m.valid_i = 0;
    m.rst_ni = 1;
    held_ = false;
  }

  // Beats go to the memory until none is offered, and nothing more comes.
  void Drain() {
    auto& m = *dut_;
    m.valid_i = 0;
    m.wr_ready_i = 1;
    m.eval();
    EXPECT_TRUE(m.wr_valid_o);
    while (m.wr_valid_o) Clock();
    held_ = false;
  }

  // While beats go to the memory; at most two were whole. Nothing is told.
  void Clear(int cycles) {
    auto& m = *dut_;
    m.valid_i = 0;
    m.eval();
    int beats = 0;
    for (int i = 0; i < cycles + 10; ++i) {
      m.clear_i = i < cycles;
      m.wr_ready_i = !Chance(60) || i > cycles;
      m.eval();
      beats += m.wr_valid_o && m.wr_ready_i;
      if (i > 0) EXPECT_FALSE(m.post_o || m.lost_o);
      CheckHolds();
      Clock();
    }
    EXPECT_LE(beats, 2);
    EXPECT_FALSE(m.wr_valid_o);
    EXPECT_FALSE(context_.gotError());
  }

  Packet Draw() {
    Packet p;
    const int kind = static_cast<int>(random_() % 8);
    p.kind = kind == 0   ? link::Kind::kPoison
             : kind <= 2 ? link::Kind::kPost
                         : link::Kind::kWrite;
    p.src_x = static_cast<int>(random_() % 32);
    p.src_core = static_cast<int>(random_() % 2);
    p.dst_core = static_cast<int>(random_() % 2);
    p.address = random_() & ((uint64_t{1} << 36) - 1);
    if (p.kind == link::Kind::kPost)
      p.address = isa::kFirstLinkFlag + random_() % isa::kNumLinkFlags;
    if (p.kind != link::Kind::kWrite) return p;
    // Often the whole of a beat, or of its neighbour.
    p.address = random_() % (1 << kMemBits) / kFlit * kFlit;
    if (random_() % 2) p.address = p.address / kBeat * kBeat;
    p.payload.resize(1 + random_() % (random_() % 2 ? kFlit : 16 * kFlit));
    const uint64_t room = (1 << kMemBits) - p.address;
    if (p.payload.size() > room) p.payload.resize(room);
    for (uint8_t& byte : p.payload) byte = static_cast<uint8_t>(random_());
    return p;
  }

  // Flit by flit; the cycles of the flits, of offered beats and of pulses.
  struct Times {
    std::vector<int64_t> flits, beats, pulses;
  };
  Times Run(const std::vector<Packet>& packets, const Holds& holds) {
    auto& m = *dut_;
    Times times;
    size_t in = 0;                // packet that comes
    size_t at = 0;                // byte of it
    size_t out = 0, written = 0;  // packet that leaves, bytes of it
    bool offered = false;
    for (int64_t cycle = 0; out < packets.size(); ++cycle) {
      if (cycle == holds.cut_at) return times;
      if (cycle > 200000) {
        ADD_FAILURE() << "no end";
        return times;
      }
      offered = in < packets.size() && (offered || !Chance(holds.gap));
      m.valid_i = offered;
      m.clear_i = 0;
      SetFlit(offered ? &packets[in] : nullptr, at);
      m.wr_ready_i = !Chance(holds.beat);
      m.eval();
      // Pulses are of what was taken before this cycle's beat.
      if (m.post_o != 0 || m.lost_o) {
        times.pulses.push_back(cycle);
        const Packet& p = packets[out];
        EXPECT_TRUE(written == 0 && p.kind != link::Kind::kWrite)
            << "before all is written, cycle " << cycle;
        const bool post = p.kind == link::Kind::kPost;
        EXPECT_EQ(m.post_o, post ? 1 << (p.address - isa::kFirstLinkFlag) : 0);
        EXPECT_EQ(m.lost_o, !post);
        if (!post) EXPECT_EQ(m.lost_addr_o, p.address);
        ++out;
      }
      CheckHolds();
      if (m.wr_valid_o && m.wr_ready_i) {
        times.beats.push_back(cycle);
        if (out == packets.size()) {
          ADD_FAILURE() << "a beat too many";
          return times;
        }
        const Packet& p = packets[out];
        EXPECT_EQ(p.kind, link::Kind::kWrite) << "cycle " << cycle;
        const uint64_t first = p.address + written;
        EXPECT_EQ(m.wr_addr_o, first / kBeat * kBeat) << "cycle " << cycle;
        for (uint64_t i = 0; i < kBeat; ++i) {
          const bool due =
              m.wr_addr_o + i >= first && written < p.payload.size();
          EXPECT_EQ(GetBits(m.wr_mask_o, i, 1), due) << i << " " << cycle;
          if (!due) continue;
          EXPECT_EQ(GetBits(m.wr_data_o, 8 * i, 8), p.payload[written])
              << i << " " << cycle;
          ++written;
        }
        if (written == p.payload.size()) {
          ++out;
          written = 0;
        }
      }
      if (offered && m.ready_o) {
        times.flits.push_back(cycle);
        at += kFlit;
        offered = false;
        if (at >= packets[in].payload.size()) {
          ++in;
          at = 0;
        }
      }
      Clock();
      if (context_.gotError()) {
        context_.gotError(false);
        ADD_FAILURE() << "an assertion of the RTL failed";
      }
      if (::testing::Test::HasFailure()) return times;
    }
    return times;
  }

  std::mt19937_64 random_;

 private:
  bool Chance(int in_256) { return static_cast<int>(random_() & 255) < in_256; }
  void Clock() {
    dut_->clk_i = 1;
    dut_->eval();
    dut_->clk_i = 0;
    dut_->eval();
  }

  void SetFlit(const Packet* p, size_t at) {
    auto& m = *dut_;
    const auto set = [&m](link::Field f, uint64_t value) {
      SetBits(&m.head_i, f.lsb, f.bits, value);
    };
    const size_t bytes =
        p == nullptr ? 0 : std::min<size_t>(kFlit, p->payload.size() - at);
    for (int i = 0; i < kFlit; ++i) {
      const bool there = static_cast<size_t>(i) < bytes;
      SetBits(&m.mask_i, i, 1, there || (p == nullptr && random_() % 2));
      SetBits(&m.data_i, 8 * i, 8,
              there ? p->payload[at + i] : random_() & 255);
    }
    m.last_i = p == nullptr ? random_() % 2 : at + bytes == p->payload.size();
    set(link::head::kKind,
        static_cast<uint64_t>(p == nullptr ? link::Kind::kWrite : p->kind));
    set(link::head::kAddress, p == nullptr ? 0 : p->address + at);
    if (p == nullptr) return;
    set(link::head::kLength, p->payload.size() - at);
    set(link::head::kSrcX, p->src_x);
    set(link::head::kSrcCore, p->src_core);
    set(link::head::kDstCore, p->dst_core);
  }

  // A beat that was refused is still offered.
  void CheckHolds() {
    auto& m = *dut_;
    std::vector<uint64_t> beat = {m.wr_addr_o};
    for (int i = 0; i < kBeat; ++i)
      beat.push_back(GetBits(m.wr_data_o, 8 * i, 8) << 1 |
                     GetBits(m.wr_mask_o, i, 1));
    if (held_) EXPECT_TRUE(m.wr_valid_o && beat == last_);
    held_ = m.wr_valid_o && !m.wr_ready_i;
    last_ = beat;
  }

  VerilatedContext context_;
  std::unique_ptr<typename T::Dut> dut_;
  bool held_ = false;
  std::vector<uint64_t> last_;
};

using Cases =
    ::testing::Types<Case<VGather32, 32, 16>, Case<VGather128, 128, 64>,
                     Case<VGather512, 512, 64>>;
TYPED_TEST_SUITE(GatherTest, Cases);

TYPED_TEST(GatherTest, RandomPackets) {
  for (const uint64_t seed : testing_options::Seeds(40)) {
    if (this->HasFailure()) return;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    this->Start(seed);
    Holds holds;
    for (int* hold : {&holds.gap, &holds.beat}) {
      static constexpr int kChances[] = {0, 0, 60, 180, 240};
      *hold = kChances[this->random_() % 5];
    }
    std::vector<Packet> packets;
    for (int i = 0; i < 100; ++i) packets.push_back(this->Draw());
    this->Run(packets, holds);
  }
}

// A post right behind a beat that the memory refuses for long.
TYPED_TEST(GatherTest, APostWaitsForTheMemory) {
  for (int i = 0; i < 50 && !this->HasFailure(); ++i) {
    this->Start(100 + static_cast<uint64_t>(i));
    std::vector<Packet> packets;
    while (packets.size() < 20) {
      Packet p = this->Draw();
      const bool write = packets.size() % 2 == 0;
      if ((p.kind == link::Kind::kWrite) == write) packets.push_back(p);
    }
    this->Run(packets, {0, 250});
  }
}

// A flit a cycle into a memory that takes a beat a cycle.
TYPED_TEST(GatherTest, AFlitACycle) {
  std::vector<Packet> packets(8);
  for (size_t i = 0; i < packets.size(); ++i) {
    packets[i].address = i * 16 * this->kFlit;
    packets[i].payload.assign(16 * this->kFlit, static_cast<uint8_t>(i));
  }
  const auto times = this->Run(packets, {});
  ASSERT_EQ(times.flits.size(), 8u * 16);
  EXPECT_EQ(times.flits.back() - times.flits.front(), 8 * 16 - 1);
  EXPECT_EQ(times.beats.size(),
            8u * 16 * this->kFlit / static_cast<size_t>(this->kBeat));
}

TYPED_TEST(GatherTest, Latency) {
  Packet write, post;
  write.payload.assign(1, 7);
  post.kind = link::Kind::kPost;
  post.address = isa::kFirstLinkFlag + 5;
  auto times = this->Run({write}, {});
  ASSERT_EQ(times.beats.size(), 1u);
  EXPECT_EQ(times.beats[0] - times.flits[0], 2);
  this->Reset();
  times = this->Run({post}, {});
  ASSERT_EQ(times.pulses.size(), 1u);
  EXPECT_EQ(times.pulses[0] - times.flits[0], 2);
}

// A reset forgets the bytes of a beat that had begun.
TYPED_TEST(GatherTest, Resets) {
  for (int i = 0; i < 30 && !this->HasFailure(); ++i) {
    std::vector<Packet> packets;
    for (int k = 0; k < 10; ++k) packets.push_back(this->Draw());
    this->Run(packets, {static_cast<int>(this->random_() % 200),
                        static_cast<int>(this->random_() % 200),
                        static_cast<int64_t>(this->random_() % 200)});
    this->Reset();
  }
}

// A clear amid packets: beats that are whole are written all the same, of the
// rest nothing, and what comes then finds nothing of it.
TYPED_TEST(GatherTest, AClearForgets) {
  for (int i = 0; i < 40 && !this->HasFailure(); ++i) {
    std::vector<Packet> packets;
    for (int k = 0; k < 10; ++k) packets.push_back(this->Draw());
    this->Run(packets, {static_cast<int>(this->random_() % 200),
                        static_cast<int>(this->random_() % 200),
                        static_cast<int64_t>(this->random_() % 200)});
    this->Clear(1 + static_cast<int>(this->random_() % 3));
  }
}

// A post that waits for the memory is not made in the cycle of a clear, in
// which the last beat before it is written.
TYPED_TEST(GatherTest, AClearInThePostsCycle) {
  for (int i = 0; i < 20 && !this->HasFailure(); ++i) {
    this->Start(200 + static_cast<uint64_t>(i));
    Packet write, post;
    write.payload.assign(1 + this->random_() % this->kFlit, 7);
    post.kind = link::Kind::kPost;
    post.address = isa::kFirstLinkFlag + this->random_() % 8;
    this->Run({write, post}, {0, 256, 12});
    this->Drain();
    this->Clear(1 + i % 3);
  }
}

}  // namespace
}  // namespace systole::link_test
