// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_credit, systole_lfsr and systole_ram_1r1w.

#include <array>
#include <cstdint>
#include <vector>

#include "Vcredit.h"
#include "Vlfsr16.h"
#include "Vlfsr32.h"
#include "Vram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cells/bench.h"

namespace systole::test {
namespace {

using testing::HasSubstr;

constexpr int kCredits = 5;

void StartCredit(Bench<Vcredit>& bench) {
  bench->take_i = 0;
  bench->give_i = 0;
  Reset(bench);
}

TEST(CreditTest, CountsUnderRandomTraffic) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    Bench<Vcredit> bench(seed);
    StartCredit(bench);
    int left = kCredits;
    for (int cycle = 0; cycle < 2000; ++cycle) {
      bench.Settle();
      ASSERT_EQ(bench->count_o, left) << "cycle " << cycle;
      ASSERT_EQ(bench->avail_o, left > 0) << "cycle " << cycle;
      ASSERT_EQ(bench->idle_o, left == kCredits) << "cycle " << cycle;
      const bool take = left > 0 && bench.Chance(50);
      const bool give = left < kCredits && bench.Chance(50);
      bench->take_i = take;
      bench->give_i = give;
      left += static_cast<int>(give) - static_cast<int>(take);
      bench.Step();
    }
  }
}

TEST(CreditAssertionTest, CatchesACreditThatIsNotThere) {
  Bench<Vcredit> bench(1);
  StartCredit(bench);
  bench->take_i = 1;
  for (int i = 0; i < kCredits; ++i) EXPECT_EQ(bench.StepIntoAssertion(), "");
  EXPECT_THAT(bench.StepIntoAssertion(), HasSubstr("a_underflow"));
}

TEST(CreditAssertionTest, CatchesACreditTooMany) {
  Bench<Vcredit> bench(1);
  StartCredit(bench);
  bench->give_i = 1;
  EXPECT_THAT(bench.StepIntoAssertion(), HasSubstr("a_overflow"));
}

TEST(LfsrTest, SixteenBitsRunThroughAllStates) {
  Bench<Vlfsr16> bench(1);
  bench->en_i = 1;
  Reset(bench);
  const auto first = bench->state_o;
  std::vector<bool> seen(1 << 16);
  for (int step = 0; step < (1 << 16) - 1; ++step) {
    ASSERT_FALSE(seen[bench->state_o]) << "step " << step;
    seen[bench->state_o] = true;
    bench.Step();
  }
  EXPECT_EQ(bench->state_o, first);
  EXPECT_FALSE(seen[0]);
}

TEST(LfsrTest, HoldsWithoutEnable) {
  Bench<Vlfsr16> bench(1);
  bench->en_i = 1;
  Reset(bench);
  bench.Step();
  const auto state = bench->state_o;
  bench->en_i = 0;
  for (int i = 0; i < 10; ++i) bench.Step();
  EXPECT_EQ(bench->state_o, state);
}

// The step is linear over GF(2): the matrix of the step, taken from the cell
// itself, has order 2^32 - 1 when its power to that is the identity and its
// powers to (2^32 - 1) / p are not, for each prime factor p.
using Matrix = std::array<uint32_t, 32>;  // images of the unit vectors

uint32_t Apply(const Matrix& m, uint32_t v) {
  uint32_t result = 0;
  for (int i = 0; i < 32; ++i) {
    if (v >> i & 1) result ^= m[i];
  }
  return result;
}

Matrix Multiply(const Matrix& a, const Matrix& b) {
  Matrix result;
  for (int i = 0; i < 32; ++i) result[i] = Apply(a, b[i]);
  return result;
}

Matrix Identity() {
  Matrix m;
  for (int i = 0; i < 32; ++i) m[i] = 1u << i;
  return m;
}

Matrix Power(Matrix base, uint64_t exponent) {
  Matrix result = Identity();
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = Multiply(base, result);
    base = Multiply(base, base);
  }
  return result;
}

TEST(LfsrTest, ThirtyTwoBitsHaveTheFullPeriod) {
  Bench<Vlfsr32> bench(1);
  bench->en_i = 1;
  Reset(bench);
  // 33 successive states determine the matrix: solve for the unit vectors by
  // elimination over 32 independent states.
  std::array<uint32_t, 32> from, to;
  for (int i = 0; i < 32; ++i) {
    from[i] = bench->state_o;
    bench.Step();
    to[i] = bench->state_o;
  }
  for (int bit = 0; bit < 32; ++bit) {
    int pivot = bit;
    while (pivot < 32 && !(from[pivot] >> bit & 1)) ++pivot;
    ASSERT_LT(pivot, 32) << "states are dependent";
    std::swap(from[bit], from[pivot]);
    std::swap(to[bit], to[pivot]);
    for (int i = 0; i < 32; ++i) {
      if (i != bit && (from[i] >> bit & 1)) {
        from[i] ^= from[bit];
        to[i] ^= to[bit];
      }
    }
  }
  const Matrix step = to;
  const uint64_t period = (uint64_t{1} << 32) - 1;
  EXPECT_EQ(Power(step, period), Identity());
  for (uint64_t prime : {3, 5, 17, 257, 65537}) {
    EXPECT_NE(Power(step, period / prime), Identity()) << prime;
  }
}

TEST(RamTest, FollowsAnArray) {
  constexpr int kDepth = 24;
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    Bench<Vram> bench(seed);
    std::array<uint32_t, kDepth> expected{};
    bench->clk_i = 0;
    bench->re_i = 0;
    for (int i = 0; i < kDepth; ++i) {
      bench->we_i = 0xF;
      bench->waddr_i = i;
      bench->wdata_i = expected[i] = bench.Random();
      bench.Settle();
      bench.Step();
    }
    uint32_t last_read = 0;
    bool read_once = false;
    for (int cycle = 0; cycle < 3000; ++cycle) {
      const int write = static_cast<int>(bench.Random() % kDepth);
      const int read =
          bench.Chance(30) ? write : static_cast<int>(bench.Random() % kDepth);
      bench->we_i = bench.Random() & 0xF;
      bench->waddr_i = write;
      bench->wdata_i = bench.Random();
      bench->re_i = bench.Chance(60);
      bench->raddr_i = read;
      bench.Settle();
      if (bench->re_i) {
        last_read = expected[read];  // old data when the word is written now
        read_once = true;
      }
      for (int lane = 0; lane < 4; ++lane) {
        if (bench->we_i >> lane & 1) {
          const uint32_t mask = 0xFFu << (8 * lane);
          expected[write] = (expected[write] & ~mask) | (bench->wdata_i & mask);
        }
      }
      bench.Step();
      if (read_once) {
        ASSERT_EQ(bench->rdata_o, last_read) << "cycle " << cycle;
      }
    }
  }
}

}  // namespace
}  // namespace systole::test
