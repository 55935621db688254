// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Unified buffer: random traffic on all ports against a byte array, stalls,
// starvation guard, conflict-free pitch, range assertions.

#include <unistd.h>

#include "VUbEdge.h"
#include "VUbMini.h"
#include "VUbNano.h"
#include "VUbV1.h"
#include "VUbV2.h"
#include "tests/rtl/unified_buffer/bench.h"
#include "tests/testing/seeds.h"

namespace systole::ub_test {
namespace {

// Addresses crowd into a few words, so that ports meet in banks and reads
// follow writes, and around the memory's end.
template <typename Model>
int64_t Address(Bench<Model>* b) {
  const int64_t span = 3 * b->p.ub_banks * b->p.word_bytes();
  const int64_t at = static_cast<int64_t>(b->rng() % span);
  switch (b->rng() % 8) {
    case 0:
      return b->p.ub_bytes - 1 - at;
    case 1:
      return static_cast<int64_t>(b->rng()) % b->p.ub_bytes;
    default:
      return at;
  }
}

template <typename Model>
void RandomTraffic(const char* preset, uint32_t seed, int cycles) {
  SCOPED_TRACE(::testing::Message() << preset << " seed " << seed);
  Bench<Model> b(preset, seed);
  const int busy = 20 + static_cast<int>(seed % 3) * 40,
            stalls = seed % 2 ? 25 : 0;
  for (int i = 0; i < cycles && !::testing::Test::HasFailure(); ++i) {
    for (int k = 0; k < static_cast<int>(b.port.size()); ++k) {
      if (b.port[k].valid || static_cast<int>(b.rng() % 100) >= busy) continue;
      const int64_t addr = Address(&b),
                    beat = addr / b.p.beat_bytes() * b.p.beat_bytes();
      if (k == b.dma_wr) {
        b.Write(k, beat, b.rng() % 2);
      } else if (k == b.dma_rd) {
        b.Read(k, beat);
      } else if (k == b.vec_wr) {
        b.Write(k, addr, b.rng() % 2);
      } else {
        b.Read(k, addr, static_cast<int>(b.rng() % 4 ? 3 : 1 + b.rng() % 2));
      }
    }
    // Two writes to one word in a cycle come from different units: their order
    // is not defined.
    if (b.port[b.vec_wr].valid && b.port[b.dma_wr].valid &&
        std::abs(b.port[b.vec_wr].addr - b.port[b.dma_wr].addr) <
            2 * (b.p.word_bytes() + b.p.beat_bytes())) {
      b.port[b.dma_wr].valid = b.port[b.dma_wr].denied != 0;
      b.port[b.vec_wr].valid =
          b.port[b.vec_wr].valid && b.port[b.dma_wr].denied == 0;
    }
    uint32_t stall = 0;
    for (size_t k = 0; k < b.port.size(); ++k)
      stall |= static_cast<int>(b.rng() % 100) < stalls ? 1u << k : 0;
    b.Clock(stall);
    if (i % 400 == 399) b.Reset(1 + static_cast<int>(b.rng() % 3));
  }
  EXPECT_GT(b.reads, cycles / 4);
  EXPECT_GT(b.writes, cycles / 8);
  EXPECT_GT(b.conflicts, 0);
}

class UnifiedBuffer : public ::testing::TestWithParam<int> {};

TEST_P(UnifiedBuffer, NanoAnswersAsAnArrayOfBytes) {
  RandomTraffic<VUbNano>("nano", GetParam(), 20000);
}
TEST_P(UnifiedBuffer, EdgeAnswersAsAnArrayOfBytes) {
  RandomTraffic<VUbEdge>("edge", 50 + GetParam(), 8000);
}
TEST_P(UnifiedBuffer, MiniAnswersAsAnArrayOfBytes) {
  RandomTraffic<VUbMini>("mini", 70 + GetParam(), 8000);
}
INSTANTIATE_TEST_SUITE_P(
    Seeds, UnifiedBuffer,
    ::testing::ValuesIn(systole::testing_options::SeedList(6, 0)));

TEST(UnifiedBuffer, V1AnswersAsAnArrayOfBytes) {
  RandomTraffic<VUbV1>("v1", 90, 3000);
}
TEST(UnifiedBuffer, V2AnswersAsAnArrayOfBytes) {
  RandomTraffic<VUbV2>("v2", 91, 2000);
}

// All windows want one bank in every cycle: each port still gets through.
template <typename Model>
void Starvation(const char* preset) {
  SCOPED_TRACE(preset);
  Bench<Model> b(preset, 7);
  for (int i = 0; i < 2000; ++i) {
    for (int w = 0; w < b.windows; ++w) {
      if (!b.port[w].valid) b.Read(w, 0, 1);
    }
    if (!b.port[b.dma_rd].valid) b.Read(b.dma_rd, 0);
    if (!b.port[b.vec_wr].valid) b.Write(b.vec_wr, 0, true);
    if (!b.port[b.dma_wr].valid) b.Write(b.dma_wr, 0, true);
    b.Clock();
  }
  for (size_t k = 0; k < b.port.size(); ++k) {
    EXPECT_LE(b.port[k].most_denied, b.kGuard + static_cast<int>(b.port.size()))
        << "port " << k;
  }
  EXPECT_EQ(b.port[b.vec_wr].most_denied, 1);
  EXPECT_EQ(b.port[b.dma_wr].most_denied, b.kGuard);
}
TEST(UnifiedBuffer, NanoLetsNoPortStarve) { Starvation<VUbNano>("nano"); }
TEST(UnifiedBuffer, EdgeLetsNoPortStarve) { Starvation<VUbEdge>("edge"); }
TEST(UnifiedBuffer, MiniLetsNoPortStarve) { Starvation<VUbMini>("mini"); }

// A reset of one cycle while a port goes before all others: behind it none
// does, and the first windows get what they ask for: of another row too.
template <typename Model>
void ResetWhileOneStarves(const char* preset) {
  SCOPED_TRACE(preset);
  Bench<Model> b(preset, 9);
  for (int round = 0; round < 120; ++round) {
    for (int i = 0; i < 12 + round % 30; ++i) {
      for (int w = 0; w < b.windows; ++w) {
        if (!b.port[w].valid) b.Read(w, 0, 1);
      }
      if (!b.port[b.dma_rd].valid) b.Read(b.dma_rd, 0);
      b.Clock();
    }
    b.Reset(1);
    const int64_t row = round / 30 * b.p.ub_banks * b.p.word_bytes() * 5;
    for (int w = 0; w < b.p.segments; ++w)
      b.Read(w, row + round % 2 * b.p.word_bytes() + w * 2 * b.p.word_bytes());
    b.Clock();
    for (int w = 0; w < b.p.segments; ++w)
      ASSERT_TRUE(b.port[w].granted) << "window " << w << " round " << round;
    for (int i = 0; i < 4; ++i) b.Clock();
  }
}
TEST(UnifiedBuffer, NanoResetsWhileOneStarves) {
  ResetWhileOneStarves<VUbNano>("nano");
}
TEST(UnifiedBuffer, MiniResetsWhileOneStarves) {
  ResetWhileOneStarves<VUbMini>("mini");
}

// Four windows on consecutive lines at the pitch of docs/design.md never meet,
// whatever the byte they begin at.
template <typename Model>
void ConflictFree(const char* preset) {
  SCOPED_TRACE(preset);
  Bench<Model> b(preset, 8);
  const int64_t pitch = std::max(2 * b.p.word_bytes(), b.p.beat_bytes());
  for (int64_t offset = 0; offset < b.p.ub_banks * b.p.word_bytes(); ++offset) {
    for (int w = 0; w < b.p.segments; ++w) b.Read(w, offset + w * pitch);
    b.Clock();
    for (int w = 0; w < b.p.segments; ++w)
      ASSERT_TRUE(b.port[w].granted) << "window " << w << " offset " << offset;
  }
}
TEST(UnifiedBuffer, ConsecutiveLinesDoNotConflict) {
  ConflictFree<VUbNano>("nano");
  ConflictFree<VUbEdge>("edge");
  ConflictFree<VUbV1>("v1");
  ConflictFree<VUbMini>("mini");
  ConflictFree<VUbV2>("v2");
}

// A window beyond the end reads 0, one byte inside or not; the address space
// wraps, which gives windows that begin before byte 0.
TEST(UnifiedBuffer, ReadsBeyondTheEndAreZero) {
  Bench<VUbV1> b("v1",
                 9);  // not a power of two: the address space has a hole above
  for (int64_t a :
       {b.p.ub_bytes - 1, b.p.ub_bytes, b.p.ub_bytes + 5 * b.p.word_bytes() + 3,
        (int64_t{1} << 25) - 1}) {
    b.Read(0, a);
    b.Read(4, a);
    for (int i = 0; i < 4; ++i) b.Clock();
  }
}

// A write that would leave the memory stops the simulation.
TEST(UnifiedBufferDeathTest, WritesStayInside) {
  ::testing::FLAGS_gtest_death_test_style = "fast";
  EXPECT_DEATH(
      {
        ::dup2(2, 1);  // the simulator reports on the standard output
        Bench<VUbV1> b("v1", 10);
        b.Write(b.vec_wr, b.p.ub_bytes - 8, true);
        b.port[b.vec_wr].mask[8] = true;
        b.Clock();
      },
      "a_vec_range");
  EXPECT_DEATH(
      {
        ::dup2(2, 1);
        Bench<VUbV1> b("v1", 10);
        b.Write(b.dma_wr, b.p.ub_bytes, true);
        b.Clock();
      },
      "a_dma_wr_range");
}

}  // namespace
}  // namespace systole::ub_test
