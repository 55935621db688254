// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Units at one port of the unified buffer: each gets the answers to its own
// requests, in order, whatever stalls; each has its turn.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <utility>

#include "Vshare.h"
#include "tests/testing/seeds.h"
#include "verilated.h"

namespace systole::dma_test {
namespace {

constexpr int kUnits = 4, kAll = (1 << kUnits) - 1;
using Counts = std::array<int64_t, kUnits>;

// Chances in 256 a cycle.
struct Load {
  std::array<int, kUnits> ask = {};
  int hold = 0;      // the port refuses
  int hold_rsp = 0;  // it answers later than it might
  int latency = 2;
  int cycles = 1000;
};
struct Seen {
  Counts taken = {}, answered = {};
  int64_t in_flight = 0;  // at most
  Counts waited = {};     // requests of others taken before its own, at most
};

class Share {
 public:
  explicit Share(uint64_t seed) : random_(seed) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed) | 1);
    context_.fatalOnError(false);
    dut_ = std::make_unique<Vshare>(&context_);
    Reset();
  }
  ~Share() { dut_->final(); }

  void Reset() {
    dut_->rst_ni = dut_->valid_i = dut_->ub_rsp_valid_i = dut_->ub_ready_i = 0;
    dut_->clk_i = 0;
    dut_->eval();
    for (int i = 0; i < 3; ++i) Clock();
    context_.gotError(false);
    dut_->rst_ni = 1;
    valid_ = 0;
    reads_.clear();
    held_ = false;
  }

  // All ask, and the first `taken` are taken; then the port refuses, through a
  // reset of one cycle. The address that is offered behind it.
  uint32_t OfferedBehindAReset(int taken) {
    Reset();
    Vshare& m = *dut_;
    m.valid_i = kAll;
    for (int w = 0; w < 4; ++w) m.addr_i[w] = 0;
    for (int u = 0; u < kUnits; ++u) m.addr_i[25 * u / 32] |= u << 25 * u % 32;
    m.ub_ready_i = 1;
    for (int i = 0; i < taken; ++i) Clock();
    m.ub_ready_i = 0;
    Clock();
    m.rst_ni = 0;
    Clock();
    m.rst_ni = 1;
    m.eval();
    EXPECT_TRUE(m.ub_valid_o);
    const uint32_t offered = m.ub_addr_o;
    EXPECT_FALSE(context_.gotError());
    return offered;
  }

  Seen Run(const Load& load) {
    Seen seen;
    Counts others = {};
    for (int cycle = 0; cycle < load.cycles + 200; ++cycle) {
      const bool more = cycle < load.cycles;
      for (int u = 0; u < kUnits; ++u) {
        if ((valid_ >> u & 1) != 0 || !more || !Chance(load.ask[u])) continue;
        valid_ |= 1 << u;
        address_[u] = static_cast<uint32_t>(random_()) & 0x1ffffff;
      }
      Vshare& m = *dut_;
      m.valid_i = static_cast<uint8_t>(valid_);
      for (int b = 0; b < 25 * kUnits; ++b) {
        const uint32_t bit = address_[b / 25] >> (b % 25) & 1;
        m.addr_i[b / 32] = (m.addr_i[b / 32] & ~(1u << b % 32)) | bit << b % 32;
      }
      m.ub_ready_i = !Chance(load.hold);
      m.ub_rsp_valid_i = !reads_.empty() && reads_.front().first <= cycle &&
                         !Chance(load.hold_rsp);
      m.eval();
      const int owner = reads_.empty() ? -1 : reads_.front().second;
      EXPECT_EQ(m.rsp_valid_o, m.ub_rsp_valid_i ? 1 << owner : 0) << cycle;
      if (m.ub_rsp_valid_i) {
        ++seen.answered[owner];
        reads_.pop_front();
      }
      EXPECT_EQ(m.ready_o & ~valid_, 0) << cycle;
      EXPECT_EQ(m.ready_o & (m.ready_o - 1), 0) << "two, cycle " << cycle;
      EXPECT_EQ(m.ready_o != 0, m.ub_valid_o && m.ub_ready_i) << cycle;
      if (held_) EXPECT_TRUE(m.ub_valid_o && m.ub_addr_o == last_) << cycle;
      held_ = m.ub_valid_o && !m.ub_ready_i;
      last_ = m.ub_addr_o;
      const int asked = valid_;
      for (int u = 0; u < kUnits; ++u) {
        if ((m.ready_o >> u & 1) == 0) continue;
        EXPECT_EQ(m.ub_addr_o, address_[u]) << "unit " << u << " " << cycle;
        ++seen.taken[u];
        valid_ &= ~(1 << u);
        reads_.push_back({cycle + load.latency, u});
        for (int v = 0; v < kUnits; ++v) {
          others[v] = v == u || (asked >> v & 1) == 0 ? 0 : others[v] + 1;
          seen.waited[v] = std::max(seen.waited[v], others[v]);
        }
      }
      seen.in_flight =
          std::max(seen.in_flight, static_cast<int64_t>(reads_.size()));
      Clock();
      if (context_.gotError()) {
        context_.gotError(false);
        ADD_FAILURE() << "an assertion of the RTL failed, cycle " << cycle;
      }
      if (::testing::Test::HasFailure()) return seen;
    }
    EXPECT_EQ(seen.taken, seen.answered);
    return seen;
  }

 private:
  bool Chance(int in_256) { return static_cast<int>(random_() & 255) < in_256; }
  void Clock() {
    dut_->clk_i = 1;
    dut_->eval();
    dut_->clk_i = 0;
    dut_->eval();
  }

  std::mt19937_64 random_;
  VerilatedContext context_;
  std::unique_ptr<Vshare> dut_;
  int valid_ = 0;
  std::array<uint32_t, kUnits> address_ = {};
  uint32_t last_ = 0;
  std::deque<std::pair<int64_t, int>> reads_;  // cycle of the answer, unit
  bool held_ = false;
};

TEST(ShareTest, AnswersGoToWhoAsked) {
  for (const uint64_t seed : testing_options::Seeds(60)) {
    if (::testing::Test::HasFailure()) return;
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Share share(seed);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 4; ++i) {
      Load load;
      for (int& chance : load.ask) chance = static_cast<int>(random() % 257);
      load.hold = random() % 2 ? static_cast<int>(random() % 250) : 0;
      load.hold_rsp = random() % 2 ? static_cast<int>(random() % 200) : 0;
      load.latency = 1 + static_cast<int>(random() % 40);
      const Seen seen = share.Run(load);
      // A turn each; another may have been offered first.
      for (const int64_t waited : seen.waited) EXPECT_LE(waited, kUnits);
      if (random() % 2) share.Reset();
    }
  }
}

TEST(ShareTest, ABeatACycleInTurn) {
  Share share(3);
  Load load;
  for (int asking = 1; asking <= kAll; ++asking) {
    int units = 0;
    for (int u = 0; u < kUnits; ++u) {
      load.ask[u] = asking >> u & 1 ? 256 : 0;
      units += asking >> u & 1;
    }
    const Seen seen = share.Run(load);
    for (int u = 0; u < kUnits; ++u) {
      const int64_t due = asking >> u & 1 ? load.cycles / units : 0;
      EXPECT_LE(std::abs(seen.taken[u] - due), 2) << asking << " " << u;
    }
  }
}

// A reset forgets who was offered, and whose turn it is.
TEST(ShareTest, AResetBeginsTheTurnsAnew) {
  Share share(5);
  for (int taken = 0; taken < 2 * kUnits; ++taken) {
    EXPECT_EQ(share.OfferedBehindAReset(taken), 1u) << taken;
  }
}

// Reads without an answer are as many as there is room for.
TEST(ShareTest, InFlight) {
  Share share(4);
  Load load;
  load.ask[0] = load.ask[1] = 256;
  load.latency = 100;
  EXPECT_EQ(share.Run(load).in_flight, 32);
}

}  // namespace
}  // namespace systole::dma_test
