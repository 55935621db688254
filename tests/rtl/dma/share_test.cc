// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Two units at one port of the unified buffer: each gets the answers to its own
// requests, in order, whatever stalls; each has its turn.

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <utility>

#include "Vshare.h"
#include "tests/testing/seeds.h"
#include "verilated.h"

namespace systole::dma_test {
namespace {

// Chances in 256 a cycle.
struct Load {
  int ask[2] = {0, 0};
  int hold = 0;      // the port refuses
  int hold_rsp = 0;  // it answers later than it might
  int latency = 2;
  int cycles = 1000;
};
struct Seen {
  int64_t taken[2] = {0, 0}, answered[2] = {0, 0};
  int64_t in_flight = 0;       // at most
  int64_t waited[2] = {0, 0};  // cycles in which only the other's were taken
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

  Seen Run(const Load& load) {
    Seen seen;
    int64_t in_a_row[2] = {0, 0};
    for (int cycle = 0; cycle < load.cycles + 200; ++cycle) {
      const bool more = cycle < load.cycles;
      for (int u = 0; u < 2; ++u) {
        if ((valid_ >> u & 1) != 0 || !more || !Chance(load.ask[u])) continue;
        valid_ |= 1 << u;
        address_[u] = static_cast<uint32_t>(random_()) & 0x1ffffff;
      }
      Vshare& m = *dut_;
      m.valid_i = static_cast<uint8_t>(valid_);
      m.addr_i = uint64_t{address_[1]} << 25 | address_[0];
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
      EXPECT_NE(m.ready_o, 3) << "both at once, cycle " << cycle;
      EXPECT_EQ(m.ready_o != 0, m.ub_valid_o && m.ub_ready_i) << cycle;
      if (held_) EXPECT_TRUE(m.ub_valid_o && m.ub_addr_o == last_) << cycle;
      held_ = m.ub_valid_o && !m.ub_ready_i;
      last_ = m.ub_addr_o;
      const bool both = valid_ == 3;
      for (int u = 0; u < 2; ++u) {
        if ((m.ready_o >> u & 1) == 0) continue;
        EXPECT_EQ(m.ub_addr_o, address_[u]) << "unit " << u << " " << cycle;
        ++seen.taken[u];
        valid_ &= ~(1 << u);
        reads_.push_back({cycle + load.latency, u});
        in_a_row[u] = both ? in_a_row[u] + 1 : 0;
        in_a_row[1 - u] = 0;
        seen.waited[1 - u] = std::max(seen.waited[1 - u], in_a_row[u]);
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
    for (int u = 0; u < 2; ++u) EXPECT_EQ(seen.taken[u], seen.answered[u]);
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
  uint32_t address_[2] = {0, 0}, last_ = 0;
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
      // A turn each while both ask.
      EXPECT_LE(seen.waited[0], 2);
      EXPECT_LE(seen.waited[1], 2);
      if (random() % 2) share.Reset();
    }
  }
}

TEST(ShareTest, ABeatACycleInTurn) {
  Share share(3);
  Load load;
  load.ask[0] = load.ask[1] = 256;
  const Seen both = share.Run(load);
  EXPECT_GE(both.taken[0] + both.taken[1], load.cycles);
  EXPECT_LE(std::abs(both.taken[0] - both.taken[1]), 2);
  load.ask[0] = 0;
  EXPECT_GE(share.Run(load).taken[1], load.cycles);
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
