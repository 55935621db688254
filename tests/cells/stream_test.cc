// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The two stream buffers, systole_fifo and systole_skid, against a queue.

#include <deque>
#include <string>

#include "Vfifo1.h"
#include "Vfifo2.h"
#include "Vfifo5.h"
#include "Vfifo64.h"
#include "Vskid.h"
#include "gtest/gtest.h"
#include "tests/cells/bench.h"
#include "tests/testing/seeds.h"

namespace systole::test {
namespace {

// A buffer and the words that it holds.
template <typename M, size_t kWords>
struct Buffer {
  using Model = M;
  static constexpr size_t kCapacity = kWords;
};

template <typename T>
class StreamTest : public testing::Test {};

using Buffers =
    testing::Types<Buffer<Vfifo1, 1>, Buffer<Vfifo2, 2>, Buffer<Vfifo5, 5>,
                   Buffer<Vfifo64, 64>, Buffer<Vskid, 2>>;
TYPED_TEST_SUITE(StreamTest, Buffers);

template <typename Model>
void Start(Bench<Model>& bench) {
  bench->valid_i = 0;
  bench->ready_i = 0;
  bench->data_i = 0;
  Reset(bench);
}

TYPED_TEST(StreamTest, IsEmptyAfterReset) {
  Bench<typename TypeParam::Model> bench(1);
  Start(bench);
  EXPECT_EQ(bench->valid_o, 0);
  EXPECT_EQ(bench->ready_o, 1);
}

TYPED_TEST(StreamTest, KeepsOrderAndDataUnderRandomStalls) {
  for (const uint32_t seed : systole::testing_options::SeedList<uint32_t>(20)) {
    Bench<typename TypeParam::Model> bench(seed);
    Start(bench);
    std::deque<uint32_t> expected;
    const int push_percent = 10 + static_cast<int>(bench.Random() % 91);
    const int pop_percent = 10 + static_cast<int>(bench.Random() % 91);
    bool offered = false;
    for (int cycle = 0; cycle < 2000; ++cycle) {
      if (!offered) {
        bench->valid_i = bench.Chance(push_percent);
        bench->data_i = bench.Random();
      }
      bench->ready_i = bench.Chance(pop_percent);
      bench.Settle();
      ASSERT_EQ(bench->valid_o, !expected.empty()) << "cycle " << cycle;
      ASSERT_EQ(bench->ready_o, expected.size() < TypeParam::kCapacity)
          << "cycle " << cycle;
      if (bench->valid_o) {
        ASSERT_EQ(bench->data_o, expected.front()) << "cycle " << cycle;
      }
      const bool push = bench->valid_i && bench->ready_o;
      const bool pop = bench->valid_o && bench->ready_i;
      if (pop) expected.pop_front();
      if (push) expected.push_back(bench->data_i);
      offered = bench->valid_i && !push;
      bench.Step();
    }
  }
}

TYPED_TEST(StreamTest, FillsToItsCapacityAndDrains) {
  Bench<typename TypeParam::Model> bench(3);
  Start(bench);
  bench->valid_i = 1;
  size_t words = 0;
  for (bench.Settle(); bench->ready_o; bench.Step()) {
    ASSERT_LE(++words, TypeParam::kCapacity);
  }
  EXPECT_EQ(words, TypeParam::kCapacity);
  bench->valid_i = 0;
  bench->ready_i = 1;
  for (bench.Settle(); bench->valid_o; bench.Step()) {
    ASSERT_GT(words--, 0u);
  }
  EXPECT_EQ(words, 0u);
}

TYPED_TEST(StreamTest, MovesAWordACycle) {
  Bench<typename TypeParam::Model> bench(4);
  Start(bench);
  bench->valid_i = 1;
  bench->ready_i = 1;
  int moved = 0;
  for (int cycle = 0; cycle < 100; ++cycle) {
    bench->data_i = static_cast<uint32_t>(cycle);
    bench.Settle();
    if (bench->valid_o) ++moved;
    bench.Step();
  }
  // One cycle of latency; a single register alternates between full and empty.
  EXPECT_EQ(moved, TypeParam::kCapacity == 1 ? 50 : 99);
}

TYPED_TEST(StreamTest, OutputsDoNotDependOnInputsWithinACycle) {
  Bench<typename TypeParam::Model> bench(5);
  Start(bench);
  for (int cycle = 0; cycle < 200; ++cycle) {
    bench->valid_i = 0;
    bench->ready_i = 0;
    bench.Settle();
    const auto valid = bench->valid_o;
    const auto ready = bench->ready_o;
    bench->valid_i = bench.Chance(50);
    bench->ready_i = bench.Chance(50);
    bench.Settle();
    ASSERT_EQ(bench->valid_o, valid);
    ASSERT_EQ(bench->ready_o, ready);
    bench.Step();
  }
}

}  // namespace
}  // namespace systole::test
