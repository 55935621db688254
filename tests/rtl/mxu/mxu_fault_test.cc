// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Faults of the matrix unit: cause, address, which descriptor; what came before
// completes, what comes after does not start, nothing else is touched, and a
// reset brings the unit back.

#include "VMxuNano.h"
#include "tests/rtl/mxu/bench.h"
#include "tests/rtl/mxu/cases.h"

namespace systole::mxu_test {
namespace {

struct Case {
  isa::Fault cause;
  uint64_t addr;
  void (*spoil)(isa::Matmul*);
};

constexpr uint64_t kEnd = 65536;  // of nano's unified buffer
constexpr isa::Fault kIllegal = isa::Fault::kIllegalDescriptor,
                     kAcc = isa::Fault::kAccRange, kUb = isa::Fault::kUbRange;

const Case kCases[] = {
    {kIllegal, 0, [](isa::Matmul* d) { d->n = 0; }},
    {kIllegal, 0, [](isa::Matmul* d) { d->ny = 0; }},
    {kIllegal, 0, [](isa::Matmul* d) { d->nx = 0; }},
    {kIllegal, 0, [](isa::Matmul* d) { d->t0 = 0; }},
    {kIllegal, 0, [](isa::Matmul* d) { d->t1 = 0; }},
    {kIllegal, 0, [](isa::Matmul* d) { d->lines = 0; }},
    {kIllegal, 0, [](isa::Matmul* d) { d->line_bytes = 0; }},
    {kIllegal, 0, [](isa::Matmul* d) { d->seg_len[3] = 1; }},  // 9 rows
    {kIllegal, 0,
     [](isa::Matmul* d) {
       d->seg_len = {511, 511, 511, 511};
     }},
    {kIllegal, 0, [](isa::Matmul* d) { d->seg_len[0] = 0; }},
    {kIllegal, 0,
     [](isa::Matmul* d) { d->n = 0, d->acc = 8000; }},  // before the range
    {kAcc, 249,
     [](isa::Matmul* d) { d->acc = 249; }},  // 8 rows across the banks
    {kAcc, 505, [](isa::Matmul* d) { d->acc = 505; }},
    {kAcc, 512, [](isa::Matmul* d) { d->acc = 512; }},
    {kAcc, 8191, [](isa::Matmul* d) { d->acc = 8191; }},
    {kAcc, 0,
     [](isa::Matmul* d) { d->n = 1023, d->ny = 16383, d->nx = 16383; }},
    {kAcc, 0, [](isa::Matmul* d) { d->n = 33; }},
    {kAcc, 250,
     [](isa::Matmul* d) {
       d->acc = 250, d->ub_base = kEnd - 1;
     }},  // rows before bytes
    {kUb, kEnd - 7, [](isa::Matmul* d) { d->ub_base = kEnd - 7 - 7 * 16; }},
    {kUb, kEnd, [](isa::Matmul* d) { d->ub_base = kEnd; }},
    {kUb, (1 << 25) - 1, [](isa::Matmul* d) { d->ub_base = (1 << 25) - 1; }},
    {kUb, (1 << 25) - 1,
     [](isa::Matmul* d) { d->img_pitch = (1 << 25) - 1, d->n = 2; }},
    {kUb, kEnd - 1,
     [](isa::Matmul* d) {
       d->lines = 16383, d->sy = 31, d->pitch = kEnd - 1;
       d->seg_dy[0] = -30;
     }},
    {kUb, kEnd - 2,
     [](isa::Matmul* d) {
       d->line_bytes = (1 << 20) - 1, d->seg_dx[0] = kEnd - 2;
     }},
    {kUb, kEnd - 2,
     [](isa::Matmul* d) {
       d->line_bytes = (1 << 20) - 1, d->t0 = 2, d->t0_dx = 1000,
       d->seg_dx[0] = kEnd - 1002;
     }},
    {kUb, 3 * 60000,
     [](isa::Matmul* d) {
       d->ny = 1, d->lines = 64, d->pitch = 60000, d->t1 = 2, d->t1_dy = 3;
     }},
    {kUb, kEnd - 1,  // the first bad segment in walk order
     [](isa::Matmul* d) {
       d->ub_base = kEnd - 16, d->seg_len = {2, 3, 3, 0},
       d->seg_dx = {0, 15, 14, 0}, d->line_bytes = 200;
     }},
};

TEST(MxuFaults, NameCauseAndAddress) {
  int index = 0;
  for (const Case& c : kCases) {
    SCOPED_TRACE(::testing::Message() << "case " << index++);
    const isa::Matmul good = PlainMatmul(*FindPreset("nano"), 8);
    isa::Matmul second = good, bad = good;
    second.acc = 300;
    bad.pitch = bad.line_bytes = 16;
    c.spoil(&bad);
    FaultsBetween<VMxuNano>("nano", c.cause, c.addr, good, second, bad);
  }
}

// The last byte of the buffer may be read, and what lies beyond it may be
// padding.
TEST(MxuFaults, TheLastByteIsInside) {
  Bench<VMxuNano> bench("nano", 4, {});
  isa::Matmul d = PlainMatmul(bench.p, 8);
  d.ub_base = kEnd - 64;
  isa::Matmul padded = d;
  padded.line_bytes = 3;
  padded.ub_base = kEnd - 56 - 3;
  padded.lines = 8;
  padded.pad = 77;
  isa::Matmul below = d;  // windows that begin before byte 0
  below.ub_base = 0;
  below.seg_dx[0] = -5;
  isa::Matmul shifted = d;  // a segment whose window begins before byte 0
                            // because its rows are the upper ones
  shifted.ub_base = 0;
  shifted.seg_len = {6, 2, 0, 0};
  shifted.seg_dy[0] = -20;
  for (const isa::Matmul& m : {d, padded, below, shifted}) {
    bench.PushFor(m);
    bench.Run({m});
    EXPECT_EQ(bench.fault, 0);
    bench.CheckRows(m);
  }
}

// A fault elsewhere: no new vector is asked for, those on their way arrive, and
// nothing moves after them.
TEST(MxuFaults, FreezeStopsTheWalk) {
  for (const bool padding :
       {false, true}) {  // vectors of padding alone ask for nothing
    SCOPED_TRACE(padding);
    Bench<VMxuNano> bench("nano", 5, {});
    isa::Matmul d = StreamingMatmul(bench.p, 2, 200, 4);
    if (padding) d.lines = 1, d.seg_dy = {3, 4};
    bench.PushFor(d);
    bench.Start(d, 100);
    EXPECT_GT(bench.vectors, 0);
    bench.Freeze(true);
    bench.Idle(60);
    const int64_t stopped = bench.vectors;
    bench.Idle(200);
    EXPECT_EQ(bench.vectors, stopped);
    EXPECT_FALSE(bench.progress());
    bench.Freeze(false);
    bench.Reset();
    const isa::Matmul again = PlainMatmul(bench.p, 9);
    bench.PushFor(again);
    bench.Run({again});
    bench.CheckRows(again);
  }
}

// A reset in the middle of anything leaves nothing behind that would reach the
// accumulators later.
TEST(MxuFaults, ResetAnywhere) {
  for (int at = 1; at < 120; at += 7) {
    SCOPED_TRACE(::testing::Message() << "reset after " << at << " cycles");
    Bench<VMxuNano> bench("nano", 100 + at, {});
    const isa::Matmul d = StreamingMatmul(bench.p, 4, 15, 5);
    bench.PushFor(d);
    bench.Start(d, at);
    bench.Reset();
    bench.Idle(1);
    EXPECT_FALSE(bench.progress());
    // The row written now must not be hit by a vector from before.
    isa::Matmul again = PlainMatmul(bench.p, 12);
    again.acc = 0;
    bench.PushFor(again);
    bench.Run({again});
    bench.Idle(80);
    bench.CheckRows(again);
    EXPECT_EQ(bench.faults, 0);
  }
}

}  // namespace
}  // namespace systole::mxu_test
