// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the start of a program leaves of the one before: no weight of it, and
// all the room that there is.

#ifndef SYSTOLE_TESTS_RTL_MXU_START_H_
#define SYSTOLE_TESTS_RTL_MXU_START_H_

#include "tests/rtl/mxu/bench.h"
#include "tests/rtl/mxu/cases.h"

namespace systole::mxu_test {

// reset: by the reset, else by the start of a program.
template <typename Model>
void StartsAnew(const char* preset, bool reset) {
  Bench<Model> bench(preset, 17, {});
  const int64_t tile = bench.p.tile_bytes() / bench.p.beat_bytes();
  // Of the FIFO, and of the array, which takes two.
  const int64_t room = (bench.p.wfifo_tiles + 2) * tile;
  bench.Begin(reset, !reset);
  EXPECT_EQ(bench.Room(), room);
  for (int64_t beats = 1; beats < 3 * tile + 2;
       beats += 1 + beats % 3 + tile / 16) {
    SCOPED_TRACE(::testing::Message() << beats << " beats, reset " << reset);
    // A part of a tile, or some, of which one or none was taken to the array.
    bench.Begin(reset, !reset);
    for (int t = 0; t < 4; ++t) {
      Tile some = RandomTile(&bench.rng, bench.p);
      some.transpose = bench.p.element_bytes() > 1 && t % 2;
      bench.Push(some);
    }
    bench.Idle(static_cast<int>(beats));
    bench.LoseBeats();
    bench.Idle(static_cast<int>(beats % 5 * 20));
    bench.Begin(reset, !reset);
    if (beats % 4 == 0) {
      EXPECT_EQ(bench.Room(), room);
      bench.Begin(reset, !reset);
    }
    const isa::Matmul d = PlainMatmul(bench.p, 5);
    for (int64_t runs = 1 + beats % 2; runs > 0; --runs) {
      bench.PushFor(d);
      bench.Run({d});
      bench.CheckRows(d);
    }
    // Weights that a program left behind a descriptor, in the array, too.
    bench.PushFor(d);
    bench.PushFor(d);
    bench.Run({d});
    bench.Idle(static_cast<int>(beats));
    bench.LoseBeats();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace systole::mxu_test

#endif  // SYSTOLE_TESTS_RTL_MXU_START_H_
