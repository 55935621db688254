// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// SMEM against an array of words: two clients at random, whole and partial
// writes, codes with one or two wrong bits.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>

#include "VSmemBench.h"
#include "tests/testing/seeds.h"

namespace systole {
namespace {

constexpr uint32_t kWords = 64;

struct Word {
  uint32_t data = 0;
  int wrong = 0;  // bits of its code
};

struct Asked {
  bool valid = false, write = false;
  uint32_t word = 0;
  Word before;
};

class Smem : public ::testing::Test {
 protected:
  void Start(uint64_t seed) {
    random_.seed(seed);
    words_ = {};
    merging_ = kWords;
    top_.reset();
    context_ = std::make_unique<VerilatedContext>();
    context_->randReset(2);
    context_->randSeed(static_cast<int>(seed) | 1);
    top_ = std::make_unique<VSmemBench>(context_.get());
    top_->rst_ni = 0;
    for (int c = 0; c < 2; c++) top_->valid_i[c] = 0;
    top_->flip_i = 0;
    for (int i = 0; i < 4; i++) Clock();
    top_->rst_ni = 1;
  }
  // One cycle, whatever is asked for: nothing is answered, and the words are
  // cleared, for which no error is taken.
  void Reset() {
    top_->rst_ni = 0;
    for (int c = 0; c < 2; c++) top_->valid_i[c] = 1;
    if (Below(2)) top_->word_i[0] = kWords;  // which would be a failure
    Clock();
    top_->rst_ni = 1;
    words_ = {};
    merging_ = kWords;
    for (int c = 0; c < 2; c++) {
      EXPECT_FALSE(top_->valid_o[c] || top_->failed_o[c]);
      EXPECT_FALSE(top_->ready_o[c]);
    }
    EXPECT_FALSE(top_->any_corrected_o || top_->any_failed_o);
  }
  void Clock() {
    top_->clk_i = 0;
    top_->eval();
    top_->clk_i = 1;
    top_->eval();
  }
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  std::mt19937_64 random_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<VSmemBench> top_;
  std::array<Word, kWords> words_;
  uint32_t merging_ = kWords, merged_ = 0;  // kWords: nothing
};

TEST_F(Smem, RandomAccessesWithErrors) {
  for (const uint64_t seed : testing_options::Seeds(20)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Start(seed);
    std::array<Asked, 2> asked;  // answered in this cycle
    int corrected = 0, failed = 0;
    for (int cycle = 0; cycle < 5000; cycle++) {
      // Errors of a write: none, one bit, or two.
      const int wrong = Below(8) ? 0 : 1 + static_cast<int>(Below(2));
      uint64_t flip = 0;
      while (__builtin_popcountll(flip) < wrong) {
        flip |= uint64_t{1} << Below(39);
      }
      top_->flip_i = flip;
      for (int c = 0; c < 2; c++) {
        top_->valid_i[c] = Below(3) != 0;
        top_->write_i[c] = Below(2);
        top_->strobe_i[c] = Below(3) ? 15 : Below(16);
        top_->word_i[c] = Below(40) ? Below(kWords) : kWords + Below(1 << 20);
        top_->data_i[c] = static_cast<uint32_t>(random_());
      }
      top_->clk_i = 0;
      top_->eval();
      // Answers to the cycle before.
      bool any_corrected = false, any_failed = false;
      for (int c = 0; c < 2; c++) {
        const Asked& a = asked[c];
        ASSERT_EQ(top_->valid_o[c], a.valid);
        if (!a.valid) continue;
        const bool outside = a.word >= kWords;
        ASSERT_EQ(top_->failed_o[c], outside || a.before.wrong > 1)
            << "cycle " << cycle << " word " << a.word;
        any_corrected |= !outside && a.before.wrong == 1;
        any_failed |= !outside && a.before.wrong > 1;
        if (!a.write && !top_->failed_o[c]) {
          ASSERT_EQ(top_->data_o[c], a.before.data);
        }
      }
      ASSERT_EQ(top_->any_corrected_o, any_corrected) << "cycle " << cycle;
      ASSERT_EQ(top_->any_failed_o, any_failed) << "cycle " << cycle;
      corrected += any_corrected;
      failed += any_failed;
      // The part of a word that was read in the cycle before is written now,
      // with this cycle's errors.
      bool written = false;
      if (merging_ < kWords && !(words_[merging_].wrong > 1)) {
        words_[merging_] = {merged_, wrong};
        written = true;
      }
      merging_ = kWords;
      for (int c = 0; c < 2; c++) {
        const bool taken = top_->valid_i[c] && top_->ready_o[c];
        const uint32_t word = top_->word_i[c];
        asked[c] = {taken, static_cast<bool>(top_->write_i[c]), word, {}};
        if (!taken || word >= kWords) continue;
        const int strobe = top_->strobe_i[c];
        // A whole word is written without being read.
        if (!top_->write_i[c] || strobe != 15) asked[c].before = words_[word];
        if (!top_->write_i[c]) continue;
        uint32_t data = words_[word].data;
        for (int b = 0; b < 4; b++) {
          if (!(strobe >> b & 1)) continue;
          const uint32_t mask = 0xFFu << (8 * b);
          data = (data & ~mask) | (top_->data_i[c] & mask);
        }
        if (strobe == 15) {
          words_[word] = {data, wrong};
          written = true;
        } else {
          merging_ = word;
          merged_ = data;
        }
      }
      // An error is asked for until a write takes it.
      ASSERT_EQ(top_->flip_used_o, written) << "cycle " << cycle;
      top_->clk_i = 1;
      top_->eval();
      if (Below(400) == 0) {
        Reset();
        asked = {};
      }
    }
    EXPECT_GT(corrected, 50);
    EXPECT_GT(failed, 50);
    top_->final();
  }
}

// A word a cycle is cleared behind a reset, and not one more; nobody is served
// until then.
TEST_F(Smem, IsClearedInACycleAWord) {
  Start(1);
  for (int round = 0; round < 3; round++) {
    top_->valid_i[0] = top_->write_i[0] = 1;
    top_->valid_i[1] = 0;
    top_->strobe_i[0] = 15;
    for (uint32_t cycle = 0; cycle < kWords; cycle++) {
      top_->clk_i = 0;
      top_->eval();
      ASSERT_FALSE(top_->ready_o[0]) << "cycle " << cycle;
      Clock();
    }
    // The first one is served in the first cycle: no clearing overwrites it.
    for (const uint32_t word : {0u, kWords - 1}) {
      top_->word_i[0] = word;
      top_->data_i[0] = ~word;
      top_->write_i[0] = 1;
      top_->clk_i = 0;
      top_->eval();
      EXPECT_TRUE(top_->ready_o[0]) << word;
      Clock();
      top_->write_i[0] = 0;
      Clock();
      EXPECT_TRUE(top_->valid_o[0]);
      EXPECT_EQ(top_->data_o[0], ~word);
    }
    Reset();
  }
}

}  // namespace
}  // namespace systole
