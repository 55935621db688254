// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Accumulators: random writes, additions and reads against an array of 32-bit
// lanes: saturation, rows in consecutive cycles, refusals, latency, the sticky
// flag; bf16: plain writes and the rows that vectors begin from.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "VAccEdge.h"
#include "VAccMini.h"
#include "VAccNano.h"
#include "systole/gen/presets.h"
#include "tests/testing/seeds.h"
#include "verilated.h"

namespace systole {
namespace {

struct Write {
  bool valid = false, accumulate = false;
  int row = 0;
  std::vector<int32_t> data;
};

// Of a vector that enters the array: the row it begins from, or zeros.
struct Feed {
  bool valid = false, read = false;
  int row = 0;
};

template <typename Model>
class Bench {
 public:
  Bench(std::string_view preset, uint32_t seed)
      : p(*FindPreset(preset)),
        rng(seed),
        rows(p.acc_rows, std::vector<int32_t>(p.cols)) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed) + 1);
    dut_ = std::make_unique<Model>(&context_);
    dut_->wr_valid_i = dut_->rd_valid_i = dut_->clear_i = dut_->stall_i = 0;
    dut_->feed_valid_i = 0;
    dut_->rst_ni = 0;
    Eval(0);
    Eval(1);
    dut_->rst_ni = 1;
    for (int r = 0; r < p.acc_rows; ++r) Clock({true, false, r, Values()}, -1);
    for (int i = 0; i < 3; ++i) Clock({}, -1);
  }

  // One cycle: a write of the matrix unit and a read of `read_row` (-1: none).
  // Returns whether the read was accepted.
  bool Clock(const Write& w, int read_row, bool stall = false,
             bool clear = false, const Feed& feed = {}) {
    dut_->feed_valid_i = feed.valid;
    dut_->feed_read_i = feed.read;
    dut_->feed_row_i = feed.row;
    dut_->wr_valid_i = w.valid;
    dut_->wr_accumulate_i = w.accumulate;
    dut_->wr_row_i = w.row;
    for (int c = 0; c < p.cols; ++c)
      dut_->wr_data_i[c] = w.valid ? w.data[c] : static_cast<int32_t>(rng());
    dut_->rd_valid_i = read_row >= 0;
    if (read_row >= 0) dut_->rd_row_i = read_row;
    dut_->stall_i = stall;
    dut_->clear_i = clear;
    Eval(0);
    CheckRead(&expected_, dut_->rd_data_o);
    CheckRead(&expected_feed_, dut_->feed_data_o);
    const bool done = (written_ & (1u << (delay - 1))) != 0;
    EXPECT_EQ(dut_->wr_done_o != 0, done) << "cycle " << cycle_;
    EXPECT_EQ(dut_->saturated_o != 0, flag_) << "cycle " << cycle_;
    EXPECT_EQ(dut_->nan_o, nan_) << "cycle " << cycle_;
    EXPECT_EQ(dut_->inf_o, inf_) << "cycle " << cycle_;
    Count(w);
    const int half = static_cast<int>(p.acc_bank_rows());
    bool accepted = false;
    if (read_row >= 0) {
      const bool busy =
          (w.valid && w.accumulate && w.row / half == read_row / half) ||
          (feed.valid && feed.read && feed.row / half == read_row / half);
      EXPECT_EQ(dut_->rd_ready_o != 0, !stall && !busy) << "cycle " << cycle_;
      accepted = dut_->rd_ready_o;
      if (accepted) {
        // What is not in the memory yet may be seen or not; what is written
        // there in this cycle is unknown.
        const bool collides = p.cell == Cell::kInt8
                                  ? static_cast<int>(young_.size()) == delay &&
                                        young_.front().first == read_row
                                  : w.valid && w.row == read_row;
        expected_.push_back({cycle_ + 2, read_row, collides, {}});
        for (const auto& [row, before] : young_) {
          if (row == read_row) expected_.back().values.push_back(before);
        }
        if (w.valid && w.row == read_row)
          expected_.back().values.push_back(rows[w.row]);
      }
    }
    if (feed.valid) {  // a row that is not being written, or zeros
      expected_feed_.push_back(
          {cycle_ + 2,
           feed.row,
           false,
           {feed.read ? rows[feed.row] : std::vector<int32_t>(p.cols)}});
    }
    young_.push_back(Before(w));
    if (static_cast<int>(young_.size()) > delay) young_.pop_front();
    // The flag follows four cycles after the write.
    flag_ = clear ? false : flag_ || (overflows_ & 4) != 0;
    overflows_ <<= 1;
    if (w.valid) Apply(w);
    if (accepted) expected_.back().values.push_back(rows[read_row]);
    written_ = written_ << 1 | (w.valid ? 1 : 0);
    Eval(1);
    ++cycle_;
    return accepted;
  }

  // NaNs and infinities that the core is told of a cycle later.
  void Count(const Write& w) {
    nan_ = inf_ = 0;
    if (!w.valid || p.cell != Cell::kBf16) return;
    for (const int32_t x : w.data) {
      const uint32_t magnitude = static_cast<uint32_t>(x) & 0x7FFFFFFF;
      nan_ += magnitude > 0x7F800000;
      inf_ += magnitude == 0x7F800000;
    }
    counted += nan_ + inf_;
  }

  // Values that make sums near the limits as well as small ones; as fp32, some
  // around infinity.
  std::vector<int32_t> Values() {
    std::vector<int32_t> v(p.cols);
    const int kind = rng() % 4;
    for (int32_t& x : v) {
      x = static_cast<int32_t>(rng());
      if (kind == 1) x = static_cast<int32_t>(rng() % 2048) - 1024;
      if (kind == 2)
        x = rng() % 2 ? INT32_MAX - static_cast<int32_t>(rng() % 3)
                      : INT32_MIN + static_cast<int32_t>(rng() % 3);
      if (kind == 3 && rng() % 4 == 0)
        x = static_cast<int32_t>((rng() & 0x80000000) + 0x7F7FFFFF + rng() % 3);
    }
    return v;
  }

  const Preset& p;
  // From a write to the cycle at whose end it is in the memory.
  const int delay = p.cell == Cell::kInt8 ? 2 : 1;
  std::mt19937 rng;
  std::vector<std::vector<int32_t>> rows;
  int64_t saturations = 0, checked = 0, checked_feeds = 0, counted = 0;

 private:
  using Old =
      std::pair<int, std::vector<int32_t>>;  // row, value before the write
  struct Expected {
    int64_t cycle;
    int row;
    bool unknown;
    std::vector<std::vector<int32_t>> values;  // any of these, if not
  };

  Old Before(const Write& w) const {
    return w.valid ? Old{w.row, rows[w.row]} : Old{-1, {}};
  }

  void Eval(int clk) {
    dut_->clk_i = clk;
    dut_->eval();
  }

  void Apply(const Write& w) {
    for (int c = 0; c < p.cols; ++c) {
      const int64_t exact =
          (w.accumulate ? int64_t{rows[w.row][c]} : 0) + w.data[c];
      const int64_t kept = std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX);
      if (kept != exact) overflows_ |= 1;
      rows[w.row][c] = static_cast<int32_t>(kept);
    }
    saturations += overflows_ & 1;
  }

  template <typename Data>
  void CheckRead(std::deque<Expected>* expected, const Data& data) {
    if (expected->empty() || expected->front().cycle != cycle_) return;
    std::vector<int32_t> got(p.cols);
    for (int c = 0; c < p.cols; ++c) got[c] = static_cast<int32_t>(data[c]);
    const auto& any = expected->front().values;
    if (!expected->front().unknown) {
      EXPECT_NE(std::find(any.begin(), any.end(), got), any.end())
          << "cycle " << cycle_ << " row " << expected->front().row;
      ++(expected == &expected_ ? checked : checked_feeds);
    }
    expected->pop_front();
  }

  VerilatedContext context_;
  std::unique_ptr<Model> dut_;
  std::deque<Expected> expected_, expected_feed_;
  std::deque<Old> young_;  // rows before the writes of the last cycles
  int64_t cycle_ = 0;
  uint32_t written_ = 0, overflows_ = 0;  // a bit a cycle, the last one lowest
  bool flag_ = false;
  int nan_ = 0, inf_ = 0;
};

template <typename Model>
void RandomTraffic(std::string_view preset, uint32_t seed, int cycles) {
  SCOPED_TRACE(::testing::Message() << preset << " seed " << seed);
  Bench<Model> b(preset, seed);
  const int half = static_cast<int>(b.p.acc_bank_rows());
  int row = 0, read_row = -1;
  for (int i = 0; i < cycles && !::testing::Test::HasFailure(); ++i) {
    Write w;
    w.valid = b.rng() % 8 != 0;
    const bool bf16 = b.p.cell == Cell::kBf16;
    if (w.valid) {
      // The same row again, the next, or one of few in either bank.
      const int kind = b.rng() % 4;
      if (kind == 1) row = (row + 1) % static_cast<int>(b.p.acc_rows);
      if (kind >= 2) row = static_cast<int>(b.rng() % 4 + b.rng() % 2 * half);
      w.row = row;
      w.accumulate = !bf16 && b.rng() % 4 != 0;
      w.data = b.Values();
    }
    if (read_row < 0 && b.rng() % 2)
      read_row = static_cast<int>(b.rng() % 4 + b.rng() % 2 * half);
    Feed feed;
    feed.valid = bf16 && b.rng() % 4 != 0;
    feed.read = b.rng() % 4 != 0;
    feed.row = static_cast<int>(b.rng() % 4 + b.rng() % 2 * half);
    if (feed.row == w.row) feed.valid = false;  // programs wait for the sum
    if (b.Clock(w, read_row, b.rng() % 4 == 0, b.rng() % 64 == 0, feed))
      read_row = -1;
  }
  // In the end every row, in consecutive cycles.
  for (int r = 0; r < b.p.acc_rows; ++r) EXPECT_TRUE(b.Clock({}, r));
  for (int i = 0; i < 3; ++i) b.Clock({}, -1);
  if (b.p.cell == Cell::kInt8) EXPECT_GT(b.saturations, cycles / 20);
  if (b.p.cell == Cell::kBf16) {
    EXPECT_GT(b.checked_feeds, cycles / 2);
    EXPECT_GT(b.counted, cycles / 4);
  }
  EXPECT_GT(b.checked, cycles / 8 + b.p.acc_rows - 1);
}

class Accumulators : public ::testing::TestWithParam<int> {};
TEST_P(Accumulators, NanoActAsAnArray) {
  RandomTraffic<VAccNano>("nano", GetParam(), 20000);
}
TEST_P(Accumulators, EdgeActAsAnArray) {
  RandomTraffic<VAccEdge>("edge", 20 + GetParam(), 5000);
}
TEST_P(Accumulators, MiniActAsAnArray) {
  RandomTraffic<VAccMini>("mini", 40 + GetParam(), 20000);
}
INSTANTIATE_TEST_SUITE_P(
    Seeds, Accumulators,
    ::testing::ValuesIn(systole::testing_options::SeedList(4, 0)));

// A row that is added to in every cycle sums up exactly, and the flag stays
// clear without a saturation.
TEST(Accumulators, AddInEveryCycle) {
  Bench<VAccNano> b("nano", 1);
  const int cols = static_cast<int>(b.p.cols);
  b.Clock({}, -1, false, true);
  b.Clock({true, false, 5, std::vector<int32_t>(cols, -7)}, -1);
  for (int i = 0; i < 1000; ++i)
    b.Clock({true, true, 5, std::vector<int32_t>(cols, i)}, -1);
  for (int i = 0; i < 2; ++i) b.Clock({}, -1);
  b.Clock({}, 5);
  for (int i = 0; i < 3; ++i) b.Clock({}, -1);
  EXPECT_EQ(b.rows[5][0], 999 * 1000 / 2 - 7);
  EXPECT_EQ(b.saturations, 0);
  EXPECT_EQ(b.checked, 1);
}

}  // namespace
}  // namespace systole
