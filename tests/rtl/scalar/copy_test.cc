// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Copies between SMEM and HBM against two arrays of bytes: memories that are
// ready and answer when they like, addresses and lengths at each limit,
// commands while a copy runs.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
#include <random>

#include "VCopyBench.h"
#include "tests/testing/seeds.h"

namespace systole {
namespace {

constexpr uint32_t kBeat = 32, kSmem = 256, kHbm = 4096;

class ScalarCopy : public ::testing::Test {
 protected:
  void Start(uint64_t seed) {
    random_.seed(seed);
    top_.reset();
    context_ = std::make_unique<VerilatedContext>();
    context_->randReset(2);
    context_->randSeed(static_cast<int>(seed) | 1);
    top_ = std::make_unique<VCopyBench>(context_.get());
    for (uint8_t& b : smem_) b = static_cast<uint8_t>(random_());
    for (uint8_t& b : hbm_) b = static_cast<uint8_t>(random_());
    top_->in_i = top_->out_i = top_->rd_rsp_valid_i = top_->smem_valid_i = 0;
    top_->rst_ni = 0;
    for (int i = 0; i < 3; i++) Edge();
    top_->rst_ni = 1;
    answer_ = -1;
    reads_.clear();
  }
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  void Edge() {
    top_->clk_i = 1;
    top_->eval();
    top_->clk_i = 0;
    top_->eval();
  }

  // One cycle of both memories.
  void Clock() {
    top_->smem_valid_i = answer_ >= 0;
    top_->smem_data_i = static_cast<uint32_t>(random_());
    if (answer_ >= 0) std::memcpy(&top_->smem_data_i, &smem_[answer_], 4);
    answer_ = -1;
    top_->rd_rsp_valid_i = !reads_.empty() && Below(slow_) == 0;
    if (top_->rd_rsp_valid_i) {
      std::memcpy(&top_->rd_rsp_data_i, &hbm_[reads_.front()], kBeat);
      reads_.pop_front();
    }
    top_->smem_ready_i = Below(slow_) == 0;
    top_->rd_ready_i = Below(slow_) == 0;
    top_->wr_ready_i = Below(slow_) == 0;
    top_->eval();
    if (top_->smem_valid_o && top_->smem_ready_i) {
      const uint32_t at = top_->smem_word_o * 4;
      ASSERT_LT(at, kSmem);
      answer_ = at;
      if (top_->smem_write_o) {
        EXPECT_EQ(top_->smem_strobe_o, 15);
        std::memcpy(&smem_[at], &top_->smem_data_o, 4);
      }
    }
    if (top_->rd_valid_o && top_->rd_ready_i) {
      ASSERT_LE(top_->rd_addr_o, kHbm - kBeat);
      ASSERT_EQ(top_->rd_addr_o % kBeat, 0);
      reads_.push_back(static_cast<uint32_t>(top_->rd_addr_o));
      asked_++;
    }
    if (top_->wr_valid_o && top_->wr_ready_i) {
      const auto at = static_cast<uint32_t>(top_->wr_addr_o);
      ASSERT_LE(at, kHbm - kBeat);
      const auto* data = reinterpret_cast<const uint8_t*>(&top_->wr_data_o);
      for (uint32_t i = 0; i < kBeat; i++) {
        if (top_->wr_mask_o >> i & 1) hbm_[at + i] = data[i];
      }
    }
    Edge();
  }

  std::mt19937_64 random_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<VCopyBench> top_;
  std::array<uint8_t, kSmem> smem_;
  std::array<uint8_t, kHbm> hbm_;
  int64_t answer_ = -1;         // the word of SMEM that was asked for
  std::deque<uint32_t> reads_;  // of HBM, not answered
  uint32_t asked_ = 0;          // beats of HBM
  uint32_t slow_ = 1;
};

TEST_F(ScalarCopy, MovesWhatIsLegalAndRefusesTheRest) {
  int moved[2] = {}, refused = 0;
  const testing_options::Seeds seeds(6);
  const int least = 50 * seeds.size();
  for (const uint64_t seed : seeds) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Start(seed);
    for (int round = 0; round < 600; round++) {
      slow_ = 1 + Below(4);
      // Around the ends of both memories and of the window, or in between.
      const bool in = Below(2);
      const uint32_t base = Below(8) * kBeat,
                     limit = kHbm - Below(8) * 4 - Below(2);
      const bool window = Below(2);
      uint32_t words = 1 + Below(Below(4) ? 12 : kSmem / 4 + 2);
      uint32_t smem = Below(kSmem / 4) * 4;
      uint64_t hbm = Below(kHbm / kBeat) * kBeat;
      if (Below(3) == 0) smem = kSmem + 4 * Below(2) - words * 4;
      if (Below(3) == 0) {
        const uint64_t ends[] = {kHbm, limit, limit + 4};
        const uint64_t end = ends[Below(std::size(ends))];
        hbm = (end - words * 4) / kBeat * kBeat;
        words = static_cast<uint32_t>(end - hbm) / 4 + Below(2);
      }
      if (Below(6) == 0) hbm = base + kBeat * Below(2) - kBeat * Below(2);
      uint32_t length = words * 4;
      if (Below(20) == 0) length += 1 + Below(3);
      if (Below(20) == 0) length = 0;
      if (Below(20) == 0) smem += 1 + Below(3);
      if (Below(20) == 0) hbm += 1 + Below(kBeat - 1);
      if (Below(40) == 0) length = 0xFFFFFF00;
      if (Below(40) == 0) smem += 0x80000000;
      hbm &= (uint64_t{1} << 36) - 1;
      const bool legal = length != 0 && length % 4 == 0 && smem % 4 == 0 &&
                         hbm % kBeat == 0 && uint64_t{smem} + length <= kSmem &&
                         hbm + length <= kHbm &&
                         (!window || (hbm >= base && hbm + length <= limit));
      top_->in_i = in;
      top_->out_i = !in;
      top_->len_i = length;
      top_->hbm_addr_i = hbm;
      top_->smem_addr_i = smem;
      top_->window_i = window;
      top_->base_i = base;
      top_->limit_i = limit;
      std::array<uint8_t, kSmem> want_smem = smem_;
      std::array<uint8_t, kHbm> want_hbm = hbm_;
      if (legal && in) std::memcpy(&want_smem[smem], &hbm_[hbm], length);
      if (legal && !in) std::memcpy(&want_hbm[hbm], &smem_[smem], length);
      asked_ = 0;
      top_->eval();
      ASSERT_FALSE(top_->busy_o);
      ASSERT_EQ(top_->refused_o, !legal)
          << "length " << length << " smem " << smem << " hbm " << hbm;
      Clock();
      int cycles = 0;
      for (; top_->busy_o || cycles < 3; cycles++) {
        ASSERT_LT(cycles, 5000) << "it does not end";
        // Whatever is asked for meanwhile is refused.
        const bool again = top_->busy_o && Below(8) == 0;
        top_->in_i = again && Below(2);
        top_->out_i = again && !top_->in_i;
        top_->len_i = 4;
        top_->smem_addr_i = top_->hbm_addr_i = 0;
        top_->window_i = 0;
        top_->eval();
        ASSERT_EQ(top_->refused_o, again);
        Clock();
        if (HasFatalFailure()) return;
      }
      ASSERT_EQ(smem_, want_smem) << "round " << round;
      ASSERT_EQ(hbm_, want_hbm) << "round " << round;
      ASSERT_TRUE(reads_.empty());
      // As many beats as there are, and no more.
      ASSERT_EQ(asked_, legal && in ? (length + kBeat - 1) / kBeat : 0);
      // No slower than a word a cycle, or two where they are put together.
      if (legal && slow_ == 1) {
        ASSERT_LE(static_cast<uint32_t>(cycles),
                  length / 4 * (in ? 1 : 3) + 12);
      }
      refused += !legal;
      moved[in] += legal;
    }
    top_->final();
  }
  EXPECT_GT(moved[0], least);
  EXPECT_GT(moved[1], least);
  EXPECT_GT(refused, least);
}

// Of HBM four beats are asked for before one comes, in a row, and then one for
// each that is taken.
TEST_F(ScalarCopy, AsksForFourBeatsAhead) {
  Start(1);
  top_->smem_ready_i = top_->rd_ready_i = 1;
  top_->smem_valid_i = top_->window_i = 0;
  top_->smem_addr_i = top_->hbm_addr_i = 0;
  top_->len_i = kSmem;
  top_->in_i = 1;
  Edge();
  top_->in_i = 0;
  for (int i = 0; i < 4; i++) {
    EXPECT_TRUE(top_->rd_valid_o) << i;
    EXPECT_EQ(top_->rd_addr_o, i * kBeat);
    Edge();
  }
  for (uint32_t beat = 4; beat < kSmem / kBeat; beat++) {
    EXPECT_FALSE(top_->rd_valid_o) << beat;
    top_->rd_rsp_valid_i = 1;
    Edge();
    top_->rd_rsp_valid_i = 0;
    for (uint32_t word = 0; word < kBeat / 4; word++) {
      EXPECT_FALSE(top_->rd_valid_o) << beat;
      EXPECT_TRUE(top_->smem_valid_o) << beat;
      Edge();
    }
    EXPECT_FALSE(top_->smem_valid_o) << beat;
    EXPECT_TRUE(top_->rd_valid_o) << beat;
    EXPECT_EQ(top_->rd_addr_o, beat * kBeat);
    Edge();
  }
  top_->final();
}

}  // namespace
}  // namespace systole
