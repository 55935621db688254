// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What only the bf16 matrix unit does: sums that start from accumulator rows,
// transposed tiles and blocks, waits for rows with a sum on its way; its
// faults.

#include "VMxuMini.h"
#include "tests/rtl/mxu/bench.h"
#include "tests/rtl/mxu/cases.h"
#include "tests/testing/seeds.h"

namespace systole::mxu_test {
namespace {

using Mini = Bench<VMxuMini>;

class MxuBf16Random : public ::testing::TestWithParam<int> {};
TEST_P(MxuBf16Random, MiniMatchesTheWalk) {
  RandomProgram<VMxuMini>("mini", 300 + GetParam(), 40, 12);
}
INSTANTIATE_TEST_SUITE_P(
    Seeds, MxuBf16Random,
    ::testing::ValuesIn(systole::testing_options::SeedList(12, 0)));

// The kinds one by one, so that a failure has a name.
TEST(MxuBf16, EachKindAlone) {
  for (const bool column_tile : {false, true}) {
    for (const uint8_t flags : {0, 1, 4, 5}) {
      SCOPED_TRACE(::testing::Message()
                   << "column tile " << column_tile << " flags " << int{flags});
      Mini bench("mini", 11, {});
      isa::Matmul d = PlainMatmul(bench.p, flags & 4 ? 5 : 20);
      d.header.flags = flags;
      d.acc = 24;
      d.t0 = 3;
      d.t0_dx = 6;
      d.line_bytes += 12;
      for (int64_t t = TilesOf(d); t > 0; --t) {
        Tile tile = RandomTile(&bench.rng, bench.p);
        tile.transpose = column_tile;
        bench.Push(tile);
      }
      bench.Run({d});
      bench.CheckRows(d);
    }
  }
}

// A chain through one accumulator row: each vector waits for the sum before
// it, and no longer than the array takes.
TEST(MxuBf16, OneRowAgainAndAgain) {
  Mini bench("mini", 12, {});
  isa::Matmul d = PlainMatmul(bench.p, 1);
  d.t0 = 50;
  d.t0_dx = 2;
  d.line_bytes += 98;
  bench.PushFor(d);
  bench.stall_acc = 0;
  const int64_t cycles = bench.Run({d});
  bench.CheckRows(d);
  // From a step to the next: 3 to the array, through it, 1 to the memory.
  const int64_t latency = 2 + 2 * bench.p.rows + bench.p.cols;
  EXPECT_LE(cycles, 50 * (latency + 4) + 60);
  EXPECT_GT(bench.stall_acc, 48 * (latency - 14));
}

// The same over descriptors: rows of an older one, all still on their way, then
// those that lie behind and before them.
TEST(MxuBf16, RowsOfOlderDescriptors) {
  for (int offset = -9; offset <= 9; ++offset) {
    SCOPED_TRACE(offset);
    Mini bench("mini", 13, {});
    isa::Matmul first = PlainMatmul(bench.p, 6), second = first;
    first.acc = 20;
    first.header.flags = 0;
    second.acc = 20 + offset;
    second.header.flags = isa::Matmul::kKeepWeights | isa::Matmul::kAccumulate;
    bench.PushFor(first);
    bench.stall_acc = 0;
    bench.Run({first, second, second});
    bench.CheckRows(first);
    bench.CheckRows(second);
    // The third always waits for the second.
    EXPECT_GT(bench.stall_acc, std::abs(offset) < 6 ? 30 : 15);
    EXPECT_LT(bench.stall_acc, std::abs(offset) < 6 ? 80 : 40);
  }
}

// Transposed blocks behind each other that add to rows with a sum on its way:
// columns are held while the next block comes in.
TEST(MxuBf16, HeldColumnsOfTransposedBlocks) {
  for (int offset = -16; offset <= 16; ++offset) {
    SCOPED_TRACE(offset);
    Mini bench("mini", 15, {});
    isa::Matmul first = PlainMatmul(bench.p, 8), second = first;
    first.acc = 40;
    first.header.flags = isa::Matmul::kTranspose;
    first.t0 = 3;
    first.t0_dx = 6;
    first.line_bytes += 12;
    second = first;
    second.acc = 40 + offset;
    second.header.flags |= isa::Matmul::kAccumulate;
    const std::vector<isa::Matmul> list = {first, second, second, first,
                                           second};
    for (const isa::Matmul& d : list) bench.PushFor(d);
    bench.stall_acc = 0;
    bench.Run(list);
    if (offset > -8) EXPECT_GT(bench.stall_acc, 0);
    for (const isa::Matmul& d : list) bench.CheckRows(d);
  }
}

TEST(MxuBf16, MiniLongPassesDoNotWait) { LongPasses<VMxuMini>("mini", 30); }
TEST(MxuBf16, MiniPassesDoNotWaitLater) {
  PassesAgain<VMxuMini>("mini", 30, 40);
}

TEST(MxuBf16, MiniTransposesAVectorACycle) {
  TransposedRate<VMxuMini>("mini", 12);
}

struct Case {
  isa::Fault cause;
  uint64_t addr;
  void (*spoil)(isa::Matmul*);
};
constexpr uint64_t kEnd = 131072;  // of mini's unified buffer
constexpr isa::Fault kIllegal = isa::Fault::kIllegalDescriptor,
                     kOdd = isa::Fault::kMisaligned,
                     kAcc = isa::Fault::kAccRange, kUb = isa::Fault::kUbRange;
constexpr uint8_t kTranspose = isa::Matmul::kTranspose;

const Case kCases[] = {
    {kIllegal, 0, [](isa::Matmul* d) { d->pad = 1, d->ub_base = 1; }},
    {kIllegal, 0, [](isa::Matmul* d) { d->pad = -128; }},
    {kIllegal, 0, [](isa::Matmul* d) { d->line_bytes = 0; }},
    {kIllegal, 0, [](isa::Matmul* d) { d->seg_len[3] = 1; }},
    {kIllegal, 0,
     [](isa::Matmul* d) { d->header.flags = kTranspose, d->n = 2; }},
    {kIllegal, 0,
     [](isa::Matmul* d) { d->header.flags = kTranspose, d->ny = 9; }},
    {kOdd, 3, [](isa::Matmul* d) { d->ub_base = 3, d->pitch = 17; }},
    {kOdd, 17, [](isa::Matmul* d) { d->pitch = 17, d->acc = 8000; }},
    {kOdd, 5, [](isa::Matmul* d) { d->img_pitch = 5, d->line_bytes = 1; }},
    {kOdd, 15, [](isa::Matmul* d) { d->line_bytes = 15, d->sx = 1; }},
    {kOdd, 21, [](isa::Matmul* d) { d->sx = 21, d->t0_dx = 1; }},
    {kOdd, 33, [](isa::Matmul* d) { d->t0_dx = 33, d->seg_dx[0] = 1; }},
    {kOdd, 7, [](isa::Matmul* d) { d->seg_dx[1] = 7, d->seg_dx[2] = 9; }},
    {kOdd, (uint64_t{1} << 36) - 3, [](isa::Matmul* d) { d->seg_dx[3] = -3; }},
    {kAcc, 249, [](isa::Matmul* d) { d->acc = 249; }},
    {kAcc, 240,  // three passes of 8 rows each
     [](isa::Matmul* d) {
       d->header.flags = kTranspose, d->t0 = 3, d->acc = 240;
     }},
    {kAcc, 0,
     [](isa::Matmul* d) {
       d->header.flags = kTranspose, d->t0 = 4095, d->t1 = 63;
     }},
    {kUb, kEnd - 14, [](isa::Matmul* d) { d->ub_base = kEnd - 14 - 7 * 16; }},
    {kUb, kEnd, [](isa::Matmul* d) { d->ub_base = kEnd; }},
    {kUb, kEnd - 2,  // the first bad segment in walk order
     [](isa::Matmul* d) {
       d->ub_base = kEnd - 32, d->seg_len = {2, 3, 3, 0},
       d->seg_dx = {0, 30, 28, 0}, d->line_bytes = 200;
     }},
};

TEST(MxuBf16Faults, NameCauseAndAddress) {
  int index = 0;
  for (const Case& c : kCases) {
    SCOPED_TRACE(::testing::Message() << "case " << index++);
    const isa::Matmul good = PlainMatmul(*FindPreset("mini"), 8);
    isa::Matmul second = good, bad = good;
    second.acc = 300;
    second.header.flags = kTranspose;
    c.spoil(&bad);
    FaultsBetween<VMxuMini>("mini", c.cause, c.addr, good, second, bad);
  }
}

// A transposed descriptor may fill a bank to its last row.
TEST(MxuBf16Faults, TheLastRowIsInside) {
  Mini bench("mini", 4, {});
  isa::Matmul d = PlainMatmul(bench.p, 3);
  d.header.flags = kTranspose;
  d.t0 = 2;
  d.acc = 512 - 16;
  bench.PushFor(d);
  bench.Run({d});
  EXPECT_EQ(bench.fault, 0);
  bench.CheckRows(d);
}

// A reset in the middle of blocks and chains leaves nothing behind.
TEST(MxuBf16Faults, ResetAnywhere) {
  for (int at = 1; at < 150; at += 7) {
    SCOPED_TRACE(::testing::Message() << "reset after " << at << " cycles");
    Mini bench("mini", 100 + at, {});
    isa::Matmul d = PlainMatmul(bench.p, 6);
    d.header.flags = kTranspose | isa::Matmul::kAccumulate;
    d.t0 = 9;
    bench.PushFor(d);
    bench.Start(d, at);
    bench.Reset();
    isa::Matmul again = PlainMatmul(bench.p, 12);
    again.t0 = 3;
    bench.PushFor(again);
    bench.Run({again});
    bench.Idle(120);
    bench.CheckRows(again);
    EXPECT_EQ(bench.faults, 0);
  }
}

}  // namespace
}  // namespace systole::mxu_test
