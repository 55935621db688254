// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What mxu_test.cc does at `nano`, at `edge` and full size.
// Parameter of the random tests: the seed.

#include "VMxuEdge.h"
#include "VMxuV1.h"
#include "VMxuV2.h"
#include "tests/rtl/mxu/bench.h"
#include "tests/rtl/mxu/cases.h"
#include "tests/rtl/mxu/start.h"
#include "tests/testing/seeds.h"

namespace systole::mxu_test {
namespace {

class MxuRandom : public ::testing::TestWithParam<int> {};
TEST_P(MxuRandom, EdgeMatchesTheWalk) {
  RandomProgram<VMxuEdge>("edge", 100 + GetParam(), 6, 8);
}
INSTANTIATE_TEST_SUITE_P(
    Seeds, MxuRandom,
    ::testing::ValuesIn(systole::testing_options::SeedList(12, 0)));
TEST(Mxu, V1MatchesTheWalk) { RandomProgram<VMxuV1>("v1", 200, 2, 4); }

TEST(MxuThroughput, EdgePassesRunBackToBack) {
  for (int segments = 1; segments <= 4; ++segments) {
    Throughput<VMxuEdge>("edge", segments, 16, 12);
    Throughput<VMxuEdge>("edge", segments, 100, 12);
  }
}
TEST(MxuThroughput, EdgeTakesATileEachLoad) {
  SingleVectors<VMxuEdge>("edge", 40);
}
TEST(MxuThroughput, V1PassesRunBackToBack) {
  Throughput<VMxuV1>("v1", 4, 600, 2);  // a tile takes 512 beats to arrive
}

// Descriptors queue up behind the array's latency, as many as it takes: one of
// a single vector follows another after its preparation.
TEST(Mxu, V1KeepsSixteenDescriptorsInFlight) {
  Bench<VMxuV1> bench("v1", 8, {});
  std::vector<isa::Matmul> list(36, PlainMatmul(bench.p, 1));
  for (size_t i = 0; i < list.size(); ++i) {
    list[i].acc = static_cast<uint32_t>(i);
    list[i].header.flags = i == 0 ? 0 : isa::Matmul::kKeepWeights;
  }
  bench.PushFor(list[0]);
  bench.Run(list);
  for (const isa::Matmul& d : list) bench.CheckRows(d);
  EXPECT_EQ(bench.most_in_flight, 16u);
}

// Saturation needs about 8000 passes of extreme products into one row.
TEST(Mxu, SaturatesAndTells) {
  Bench<VMxuEdge> bench("edge", 9, {});
  isa::Matmul d = PlainMatmul(bench.p, 1);
  d.line_bytes = 1;
  d.seg_dx[0] = 10;  // all padding
  d.pad = -128;
  d.header.flags = isa::Matmul::kKeepWeights | isa::Matmul::kAccumulate;
  isa::Matmul first = d;
  first.header.flags = 0;
  bench.Push(Tile{std::vector<uint8_t>(bench.p.tile_bytes(), 0x80)});
  bench.Run({first});
  EXPECT_FALSE(bench.saturated());
  bench.Run(std::vector<isa::Matmul>(4200, d));
  EXPECT_TRUE(bench.state.saturated);
  EXPECT_TRUE(bench.saturated());
  bench.CheckRows(d);
  EXPECT_EQ(bench.state.Row(0)[0], INT32_MAX);
}

// The bf16 matrix unit at full size; what only it does is tested at `mini`.
TEST(Mxu, V2MatchesTheWalk) {
  Bench<VMxuV2> bench("v2", 16, {15, 60});
  std::vector<isa::Matmul> list;
  for (int i = 0; i < 6; ++i) {
    isa::Matmul d = RandomMatmul(&bench.rng, bench.p, i > 0);
    d.t0 = d.t1 = 1 + i % 2;
    d.header.flags &= ~isa::Matmul::kTranspose;
    if (i % 3 == 0) {
      d = PlainMatmul(bench.p, 100);
      d.header.flags = isa::Matmul::kTranspose;
    }
    list.push_back(d);
    bench.PushFor(d);
  }
  bench.Run(list);
  ASSERT_EQ(bench.fault, 0);
  for (const isa::Matmul& d : list) bench.CheckRows(d);
}

TEST(MxuThroughput, V2TakesATileEachLoad) { SingleVectors<VMxuV2>("v2", 40); }
TEST(MxuThroughput, V2LongPassesDoNotWait) { LongPasses<VMxuV2>("v2", 390); }
TEST(MxuThroughput, V2TransposesAVectorACycle) {
  TransposedRate<VMxuV2>("v2", 3);
}

// Where a word of the weight FIFO is two beats.
TEST(MxuWideStart, V1ForgetsByTheStart) { StartsAnew<VMxuV1>("v1", false); }
TEST(MxuWideStart, V1ForgetsByTheReset) { StartsAnew<VMxuV1>("v1", true); }

}  // namespace
}  // namespace systole::mxu_test
