// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Cases that run at several presets.

#ifndef SYSTOLE_TESTS_RTL_MXU_CASES_H_
#define SYSTOLE_TESTS_RTL_MXU_CASES_H_

#include <string_view>
#include <vector>

#include "tests/rtl/mxu/bench.h"

namespace systole::mxu_test {

// Lists of random descriptors; stalls and traffic follow from the seed.
template <typename Model>
void RandomProgram(std::string_view preset, int seed, int rounds, int most) {
  SCOPED_TRACE(::testing::Message() << preset << " seed " << seed);
  const int stalls[] = {0, 15, 50}, traffic[] = {0, 60};
  Bench<Model> bench(preset, seed, {stalls[seed % 3], traffic[seed % 2]});
  bench.vectors = bench.done = 0;
  int64_t vectors = 0, descriptors = 0;
  for (int round = 0; round < rounds && !::testing::Test::HasFailure();
       ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round);
    std::vector<isa::Matmul> list;
    for (int i = Pick(&bench.rng, 1, most); i > 0; --i) {
      list.push_back(RandomMatmul(&bench.rng, bench.p, true));
      if (Pick(&bench.rng, 0, 2) == 0) {  // a short one: many descriptors in
                                          // flight, one row again and again
        list.back().n = list.back().ny = list.back().nx = 1;
        list.back().header.flags &= ~isa::Matmul::kTranspose;
      }
      bench.PushFor(list.back());
      vectors += VectorsOf(bench.p, list.back());
    }
    descriptors += static_cast<int64_t>(list.size());
    bench.Run(list);
    ASSERT_EQ(bench.fault, 0);
    for (const isa::Matmul& d : list) bench.CheckRows(d);
    EXPECT_EQ(bench.saturated(), bench.state.saturated);
  }
  EXPECT_EQ(bench.vectors, vectors);
  EXPECT_EQ(bench.done, descriptors);
  if (traffic[seed % 2] != 0) EXPECT_GT(bench.window_checks, bench.cycles / 20);
}

// A descriptor that faults between good ones: cause and address, what came
// before completes, what comes after does not start, nothing else is touched
// (but the bad one's own rows up to the fault), and after a reset the unit
// works again on the old memories.
template <typename Model>
void FaultsBetween(std::string_view preset, isa::Fault cause, uint64_t addr,
                   const isa::Matmul& good, const isa::Matmul& second,
                   const isa::Matmul& bad) {
  Bench<Model> bench(preset, 3, {});
  isa::Matmul after = good;
  after.acc = 400;
  for (int t = 0; t < 8; ++t) bench.Push(RandomTile(&bench.rng, bench.p));
  bench.done = 0;
  bench.Run({good, second, bad, after});
  bench.Idle(200);
  EXPECT_EQ(bench.fault, static_cast<int>(cause));
  EXPECT_EQ(bench.fault_addr, addr);
  EXPECT_TRUE(bench.fault_newest);
  EXPECT_EQ(bench.faults, 1);
  EXPECT_EQ(bench.done, 2);
  bench.CheckRows(good);
  bench.CheckRows(second);
  bench.CheckRows(after);
  bench.Reset();
  isa::Matmul again = StreamingMatmul(bench.p, 4, 30, 3);
  again.header.flags = isa::Matmul::kAccumulate;
  again.acc = second.acc - 10;
  bench.PushFor(again);
  bench.Run({again});
  EXPECT_EQ(bench.fault, 0);
  bench.CheckRows(again);
}

// Passes longer than the array: no wait, a vector a cycle.
template <typename Model>
void LongPasses(std::string_view preset, int vectors) {
  Bench<Model> bench(preset, 14, {});
  const isa::Matmul d = StreamingMatmul(bench.p, 2, vectors, 3);
  bench.PushFor(d);
  bench.stall_acc = bench.stall_ub = 0;
  const int64_t cycles = bench.Run({d});
  bench.CheckRows(d);
  EXPECT_EQ(bench.stall_acc, 0);
  EXPECT_EQ(bench.stall_ub, 0);
  const int64_t first = bench.p.tile_bytes() / bench.p.beat_bytes(),
                last = 2 + 2 * bench.p.rows + bench.p.cols;
  EXPECT_LE(cycles, 3 * vectors + first + last + 14 + bench.kPreparation);
}

// What a descriptor has on its way is forgotten when it has left: the places of
// descriptors are used again, and passes still do not wait.
template <typename Model>
void PassesAgain(std::string_view preset, int vectors, int descriptors) {
  Bench<Model> bench(preset, 17, {});
  const isa::Matmul d = StreamingMatmul(bench.p, 2, vectors, 2);
  for (int i = 0; i < descriptors; ++i) {
    SCOPED_TRACE(::testing::Message() << "descriptor " << i);
    bench.PushFor(d);
    bench.stall_acc = 0;
    bench.Run({d});
    EXPECT_EQ(bench.stall_acc, 0);
  }
  bench.CheckRows(d);
}

// Blocks follow each other through the transposer without a gap.
template <typename Model>
void TransposedRate(std::string_view preset, int passes) {
  Bench<Model> bench(preset, 15, {});
  const int rows = static_cast<int>(bench.p.rows);
  isa::Matmul d = PlainMatmul(bench.p, rows);
  d.header.flags = isa::Matmul::kTranspose;
  d.t0 = passes;
  d.t0_dx = 2;
  d.line_bytes += 2 * passes;
  isa::Matmul next = d;
  next.acc = d.acc + passes * rows;
  bench.PushFor(d);
  bench.PushFor(next);
  bench.vectors = 0;
  const int64_t cycles = bench.Run({d, next});
  bench.CheckRows(d);
  bench.CheckRows(next);
  EXPECT_EQ(bench.vectors, 2 * passes * rows);
  // The first block's way in, then a vector a cycle, then the array.
  const int64_t last = 2 + 2 * bench.p.rows + bench.p.cols;
  EXPECT_LE(cycles, (2 * passes + 1) * rows + last + 14 + bench.kPreparation);
}

// Passes of enough vectors, tiles there in time, segments in different banks: a
// vector every cycle, within and across descriptors.
template <typename Model>
void Throughput(std::string_view preset, int segments, int vectors,
                int passes) {
  SCOPED_TRACE(::testing::Message()
               << preset << " segments " << segments << " vectors " << vectors);
  Bench<Model> bench(preset, 5, {});
  std::vector<isa::Matmul> list(
      3, StreamingMatmul(bench.p, segments, vectors, passes));
  list[1].acc = bench.p.acc_bank_rows();
  for (const isa::Matmul& d : list) bench.PushFor(d);
  bench.vectors = bench.stall_ub = bench.stall_swap = 0;
  const int64_t cycles = bench.Run(list);
  for (int i = 1; i < 3; ++i) bench.CheckRows(list[i]);
  EXPECT_EQ(bench.vectors, 3 * passes * vectors);
  EXPECT_EQ(bench.stall_ub, 0);
  EXPECT_EQ(bench.stall_acc, 0);
  EXPECT_LE(bench.stall_swap, 2);  // the first tile's load
  // The first tile's beats, and the last vector's way through the array.
  const int64_t first = bench.p.tile_bytes() / bench.p.beat_bytes(),
                last = bench.p.rows + bench.p.cols;
  EXPECT_LE(cycles,
            3 * passes * vectors + first + last + 14 + bench.kPreparation);
}

// Passes of a vector each, into rows of their own: as fast as tiles are loaded.
template <typename Model>
void SingleVectors(std::string_view preset, int passes) {
  Bench<Model> bench(preset, 18, {});
  std::vector<isa::Matmul> list(passes, PlainMatmul(bench.p, 1));
  for (int i = 0; i < passes; ++i) {
    list[i].acc = static_cast<uint32_t>(i);
    bench.PushFor(list[i]);
  }
  const int64_t cycles = bench.Run(list);
  for (const isa::Matmul& d : list) bench.CheckRows(d);
  // The first tile's beats, and the last vector's way through the array.
  const int64_t first = bench.p.tile_bytes() / bench.p.beat_bytes(),
                last = 2 + 2 * bench.p.rows + bench.p.cols;
  EXPECT_LE(cycles, passes * bench.p.rows / bench.p.load_buses + first + last +
                        14 + bench.kPreparation);
}

}  // namespace systole::mxu_test

#endif  // SYSTOLE_TESTS_RTL_MXU_CASES_H_
