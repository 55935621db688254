// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The systolic array alone, any cell and stage count: streams of vectors with
// tiles that arrive, by rows or by columns, as early and as late as they may,
// against the golden cell.
//
//   Stream<VArrayBf16x8s3>(Bf16(3), /*size=*/8, /*buses=*/1, /*passes=*/30,
//                          /*seed=*/1);

#ifndef SYSTOLE_TESTS_RTL_MXU_ARRAY_BENCH_H_
#define SYSTOLE_TESTS_RTL_MXU_ARRAY_BENCH_H_

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/rtl/fp/triples.h"
#include "verif/golden/fused.h"
#include "verilated.h"

namespace systole::mxu_test {

struct Cell {
  int stages;
  std::function<uint32_t(uint16_t act, uint16_t weight, uint32_t sum)> mac;
  bool has_sum_in;

  int row_cycles() const { return stages > 1 ? stages - 1 : 1; }
};

inline uint32_t MacInt8(uint16_t act, uint16_t weight, uint32_t sum) {
  return sum + static_cast<uint32_t>(static_cast<int8_t>(act) *
                                     static_cast<int8_t>(weight));
}

inline Cell Int8(int stages) { return {stages, MacInt8, false}; }
inline Cell Bf16(int stages) {
  return {stages, golden::FusedMultiplyAdd, true};
}

using Row = std::vector<uint16_t>;
using Sums = std::vector<uint32_t>;

template <typename Model>
class ArrayBench {
 public:
  ArrayBench(Cell cell, int size, int buses, uint32_t seed)
      : cell_(std::move(cell)),
        size_(size),
        buses_(buses),
        block_(size / buses),
        latency_((cell_.stages > 1 ? 2 : 1) + size * cell_.row_cycles() + size),
        rng_(seed),
        writes_(buses * buses) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed) + 1);
    dut_ = std::make_unique<Model>(&context_);
    free_[1] = shortest_pass();
  }

  int size() const { return size_; }
  // The shortest pass behind which the next one can follow at once.
  int shortest_pass() const { return block_ * cell_.row_cycles(); }
  int latency() const { return latency_; }

  // Plans a pass from cycle `start`; its tile is written row by row or column
  // by column, as late as it may, or as early as the tile before the last one
  // lets it. Always one or the other, or two tiles collide.
  void Pass(const std::vector<Row>& tile, int64_t start, bool late,
            bool columns) {
    const int64_t last = free_[bank_];
    const int64_t early =
        columns ? 1 + (block_ - 1) * cell_.row_cycles() : block_;
    for (int b = 0; b < buses_ * buses_; ++b) {
      const int row = b / buses_ * block_, column = b % buses_ * block_;
      const int64_t reached = row * cell_.row_cycles() + column;
      std::deque<Write>& writes = writes_[b];
      for (int i = 0; i < block_; ++i) {
        const int64_t at = (late ? start : last + early) + reached +
                           i * (columns ? 1 : cell_.row_cycles());
        ASSERT_GT(at, writes.empty() ? cycle : writes.back().cycle);
        Row data(block_);
        for (int k = 0; k < block_; ++k) {
          data[k] =
              columns ? tile[row + k][column + i] : tile[row + i][column + k];
        }
        writes.push_back({at, bank_, columns, i, data});
      }
    }
    tile_ = tile;
    bank_ = !bank_;
  }

  // A vector of the pass planned last, in cycle `at`; what is to come out.
  Sums Vector(int64_t at, const Row& vector, const Sums& sums) {
    Sums result = cell_.has_sum_in ? sums : Sums(size_, 0);
    for (int r = 0; r < size_; ++r) {
      for (int c = 0; c < size_; ++c) {
        result[c] = cell_.mac(vector[r], tile_[r][c], result[c]);
      }
    }
    vectors_.push_back({at, !bank_, vector, sums, result});
    free_[!bank_] = at;
    return result;
  }

  // Runs until everything planned has left the array.
  void Run() {
    const auto writes = [&] {
      return std::any_of(writes_.begin(), writes_.end(),
                         [](const auto& block) { return !block.empty(); });
    };
    while (!vectors_.empty() || !leaving_.empty() || writes()) Clock();
  }

  int64_t cycle = 0, checked = 0;

 private:
  struct Write {
    int64_t cycle;
    bool bank, column;
    int index;
    Row data;
  };
  struct Entry {
    int64_t cycle;
    bool bank;
    Row vector;
    Sums sums, result;
  };

  void Clock() {
    // Nothing but the planned is there for more than its cycle.
    const bool enter = !vectors_.empty() && vectors_.front().cycle == cycle;
    dut_->enable_i = enter || !leaving_.empty();
    dut_->vec_bank_i = rng_() & 1;
    for (int i = 0; i < size_; ++i) {
      dut_->vec_i[i] = rng_();
      dut_->sum_i[i] = rng_();
    }
    if (enter) {
      const Entry& e = vectors_.front();
      dut_->vec_bank_i = e.bank;
      for (int i = 0; i < size_; ++i) {
        dut_->vec_i[i] = e.vector[i];
        dut_->sum_i[i] = e.sums[i];
      }
      leaving_.push_back(e);
      vectors_.pop_front();
    }
    const uint32_t all = (1u << buses_ * buses_) - 1;
    uint32_t valid = 0, bank = rng_() & all, column = rng_() & all;
    for (int b = 0; b < buses_ * buses_; ++b) {
      std::deque<Write>& writes = writes_[b];
      dut_->wl_row_i[b] = rng_() % block_;
      if (writes.empty() || writes.front().cycle != cycle) continue;
      const Write& w = writes.front();
      const uint32_t bit = 1u << b;
      valid |= bit;
      bank = w.bank ? bank | bit : bank & ~bit;
      column = w.column ? column | bit : column & ~bit;
      dut_->wl_row_i[b] = w.index;
      for (int k = 0; k < block_; ++k) dut_->wl_data_i[b][k] = w.data[k];
      writes.pop_front();
    }
    dut_->wl_valid_i = valid;
    dut_->wl_bank_i = bank;
    dut_->wl_column_i = column;
    dut_->clk_i = 0;
    dut_->eval();
    if (!leaving_.empty() && leaving_.front().cycle + latency_ == cycle) {
      const Entry& e = leaving_.front();
      for (int c = 0; c < size_ && failures_ < 10; ++c) {
        if (uint32_t{dut_->sum_o[c]} == e.result[c]) continue;
        ++failures_;
        ADD_FAILURE() << "vector of cycle " << e.cycle << " column " << c
                      << ": " << std::hex << uint32_t{dut_->sum_o[c]}
                      << ", wanted " << e.result[c];
      }
      ++checked;
      leaving_.pop_front();
    }
    dut_->clk_i = 1;
    dut_->eval();
    ++cycle;
  }

  const Cell cell_;
  const int size_, buses_, block_, latency_;  // block_: rows of a block
  std::mt19937 rng_;
  VerilatedContext context_;
  std::unique_ptr<Model> dut_;
  std::vector<Row> tile_;
  bool bank_ = false;                      // of the next tile
  int64_t free_[2] = {0, 0};               // last vector of the bank's tile
  std::vector<std::deque<Write>> writes_;  // of each block
  std::deque<Entry> vectors_, leaving_;
  int failures_ = 0;
};

// Values of moderate size, so that the sums depend on every one of them; now
// and then a special one.
class Values {
 public:
  Values(uint32_t seed, bool specials) : rng_(seed), specials_(specials) {}
  uint16_t Element() {
    if (specials_ && rng_() % 64 == 0) {
      static const std::vector<uint16_t> list = fp_test::SpecialOperands();
      return list[rng_() % list.size()];
    }
    if (specials_ && rng_() % 16 == 0) return rng_();
    return (rng_() & 0x807F) | (0x78 + rng_() % 12) << 7;
  }
  uint32_t Sum() {
    if (specials_ && rng_() % 4 == 0) {
      static const std::vector<uint32_t> list = fp_test::SpecialSums();
      return list[rng_() % list.size()];
    }
    return (rng_() & 0x807FFFFF) | (0x78 + rng_() % 12) << 23;
  }
  Row Elements(int n) {
    Row row(n);
    for (uint16_t& x : row) x = Element();
    return row;
  }
  Sums SumsOf(int n) {
    Sums sums(n);
    for (uint32_t& x : sums) x = Sum();
    return sums;
  }
  std::vector<Row> Tile(int n) {
    std::vector<Row> tile(n);
    for (Row& row : tile) row = Elements(n);
    return tile;
  }
  uint32_t Random(uint32_t limit) { return rng_() % limit; }

 private:
  std::mt19937 rng_;
  const bool specials_;
};

// Passes of the shortest length and longer ones, back to back or with gaps in
// which the array is not enabled.
template <typename Model>
void Stream(Cell cell, int size, int buses, int passes, uint32_t seed) {
  SCOPED_TRACE(::testing::Message() << size << " stages " << cell.stages
                                    << " buses " << buses << " seed " << seed);
  const bool late = seed / 2 % 2 == 1, bf16 = cell.has_sum_in;
  ArrayBench<Model> bench(std::move(cell), size, buses, seed);
  Values values(seed, seed % 2 == 1);
  int64_t at = 4 * bench.latency(), vectors = 0;
  for (int p = 0; p < passes; ++p) {
    if (values.Random(4) == 0) at += 3 * bench.latency();
    bench.Pass(values.Tile(size), at, late, bf16 && values.Random(2) == 0);
    if (::testing::Test::HasFatalFailure()) return;
    int n = bench.shortest_pass();
    if (values.Random(2) == 0) n += values.Random(n);
    for (int v = 0; v < n; ++v) {
      bench.Vector(at++, values.Elements(size), values.SumsOf(size));
      if (values.Random(16) == 0) at += values.Random(3);
    }
    vectors += n;
  }
  bench.Run();
  EXPECT_EQ(bench.checked, vectors);
}

// A product of matrices whose contraction takes four tiles: the sums of a pass
// enter again with the next one as soon as they are out. What comes out of the
// last is the plain chain over the whole contraction.
template <typename Model>
void SumsGoOn(int stages) {
  constexpr int kSize = 8, kTiles = 4;
  Values values(stages, true);
  ArrayBench<Model> bench(Bf16(stages), kSize, /*buses=*/1, stages);
  const int m = bench.latency();
  std::vector<Row> a(m), w;
  for (Row& row : a) row = values.Elements(kSize * kTiles);
  std::vector<Sums> chain(m, Sums(kSize, 0)), sums = chain;
  int64_t at = 4 * bench.latency();
  for (int t = 0; t < kTiles; ++t) {
    const std::vector<Row> tile = values.Tile(kSize);
    w.insert(w.end(), tile.begin(), tile.end());
    bench.Pass(tile, at, true, false);
    for (int i = 0; i < m; ++i) {
      const Row part(a[i].begin() + t * kSize, a[i].begin() + (t + 1) * kSize);
      sums[i] = bench.Vector(at++, part, sums[i]);
    }
  }
  bench.Run();
  EXPECT_EQ(bench.checked, m * kTiles);
  for (int i = 0; i < m; ++i) {
    for (int k = 0; k < kSize * kTiles; ++k) {
      for (int c = 0; c < kSize; ++c) {
        chain[i][c] = golden::FusedMultiplyAdd(a[i][k], w[k][c], chain[i][c]);
      }
    }
    EXPECT_EQ(sums[i], chain[i]);
  }
}

}  // namespace systole::mxu_test

#endif  // SYSTOLE_TESTS_RTL_MXU_ARRAY_BENCH_H_
