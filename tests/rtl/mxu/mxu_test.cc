// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Matrix unit with unified buffer and accumulators: random programs against the
// walk of docs/isa.md, with stalls and traffic on the other ports; throughput.
// Parameter of the random tests: the seed.

#include "VMxuNano.h"
#include "tests/rtl/mxu/bench.h"
#include "tests/rtl/mxu/cases.h"
#include "tests/testing/seeds.h"

namespace systole::mxu_test {
namespace {

class MxuRandom : public ::testing::TestWithParam<int> {};
TEST_P(MxuRandom, NanoMatchesTheWalk) {
  RandomProgram<VMxuNano>("nano", GetParam(), 40, 12);
}
INSTANTIATE_TEST_SUITE_P(
    Seeds, MxuRandom,
    ::testing::ValuesIn(systole::testing_options::SeedList(12, 0)));

TEST(MxuThroughput, NanoPassesRunBackToBack) {
  for (int segments = 1; segments <= 4; ++segments) {
    Throughput<VMxuNano>("nano", segments, 8, 12);
    Throughput<VMxuNano>("nano", segments, 40, 12);
  }
}

// Shorter passes wait for the swap of the weights and say so.
TEST(MxuThroughput, CountersNameTheWait) {
  Bench<VMxuNano> bench("nano", 6, {});
  isa::Matmul d = StreamingMatmul(bench.p, 1, 1, 8);
  bench.PushFor(d);
  bench.stall_swap = bench.stall_weights = 0;
  bench.Run({d});
  EXPECT_GT(bench.stall_swap, 30);
}

TEST(MxuThroughput, WithoutTilesTheWaitIsForWeights) {
  Bench<VMxuNano> bench("nano", 6, {});
  const isa::Matmul d = StreamingMatmul(bench.p, 1, 1, 60);
  bench.PushFor(d);
  bench.LoseBeats();
  bench.Start(d, 60);
  EXPECT_GT(bench.stall_weights, 30);
  EXPECT_EQ(bench.stall_swap, 0);
}

// Lines that all begin in the same bank: the segments of a vector are granted
// one after the other.
TEST(MxuThroughput, ConflictsCostCycles) {
  Bench<VMxuNano> bench("nano", 7, {});
  isa::Matmul d = StreamingMatmul(bench.p, 4, 20, 4);
  d.pitch = bench.p.ub_banks * bench.p.word_bytes();
  d.line_bytes = d.pitch;
  bench.PushFor(d);
  bench.stall_ub = 0;
  bench.Run({d});
  bench.CheckRows(d);
  EXPECT_EQ(bench.stall_ub, 3 * VectorsOf(bench.p, d));
}

}  // namespace
}  // namespace systole::mxu_test
