// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The systolic array alone, each cell and stage count (array_bench.h).

#include "VArrayBf16x8s1.h"
#include "VArrayBf16x8s2.h"
#include "VArrayBf16x8s3.h"
#include "VArrayBf16x8s4.h"
#include "VArrayBf16x8s5.h"
#include "VArrayInt8x8.h"
#include "VArrayInt8x8s2.h"
#include "tests/rtl/mxu/array_bench.h"
#include "tests/testing/seeds.h"

namespace systole::mxu_test {
namespace {

TEST(ArrayTest, Int8) {
  for (const uint32_t seed :
       systole::testing_options::SeedList<uint32_t>(20, 0)) {
    Stream<VArrayInt8x8>(Int8(1), 8, 30, seed);
    Stream<VArrayInt8x8s2>(Int8(2), 8, 30, seed);
  }
}
TEST(ArrayTest, Bf16) {
  for (const uint32_t seed :
       systole::testing_options::SeedList<uint32_t>(20, 0)) {
    Stream<VArrayBf16x8s1>(Bf16(1), 8, 30, seed);
    Stream<VArrayBf16x8s2>(Bf16(2), 8, 30, seed);
    Stream<VArrayBf16x8s3>(Bf16(3), 8, 30, seed);
    Stream<VArrayBf16x8s4>(Bf16(4), 8, 30, seed);
    Stream<VArrayBf16x8s5>(Bf16(5), 8, 30, seed);
  }
}

// A product of matrices whose contraction takes four tiles: the sums of a pass
// enter again with the next one as soon as they are out. What comes out of the
// last is the plain chain over the whole contraction.
TEST(ArrayTest, SumsGoOnFromTileToTile) {
  constexpr int kSize = 8, kTiles = 4;
  for (int stages = 1; stages <= 5; stages += 2) {
    Values values(stages, true);
    const auto run = [&](auto bench) {
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
          const Row part(a[i].begin() + t * kSize,
                         a[i].begin() + (t + 1) * kSize);
          sums[i] = bench.Vector(at++, part, sums[i]);
        }
      }
      bench.Run();
      EXPECT_EQ(bench.checked, m * kTiles);
      for (int i = 0; i < m; ++i) {
        for (int k = 0; k < kSize * kTiles; ++k) {
          for (int c = 0; c < kSize; ++c) {
            chain[i][c] =
                golden::FusedMultiplyAdd(a[i][k], w[k][c], chain[i][c]);
          }
        }
        EXPECT_EQ(sums[i], chain[i]);
      }
    };
    if (stages == 1) run(ArrayBench<VArrayBf16x8s1>(Bf16(1), kSize, 1));
    if (stages == 3) run(ArrayBench<VArrayBf16x8s3>(Bf16(3), kSize, 3));
    if (stages == 5) run(ArrayBench<VArrayBf16x8s5>(Bf16(5), kSize, 5));
  }
}

}  // namespace
}  // namespace systole::mxu_test
