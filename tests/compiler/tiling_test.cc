// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Tiling, regions, passes, pitches and the allocator, over random shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "host/compiler/bank_conflicts.h"
#include "host/compiler/blocks.h"
#include "host/compiler/buffer_placer.h"
#include "host/compiler/cost_model.h"
#include "host/compiler/pass_plan.h"

namespace systole::compiler {
namespace {

class Shapes {
 public:
  explicit Shapes(uint64_t seed) : rng_(seed) {}
  int64_t Pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(rng_() % (high - low + 1));
  }
  Geometry Next() {
    Geometry g;
    g.n = Pick(1, 6);
    g.h = Pick(1, 30);
    g.w = Pick(1, 40);
    g.c = Pick(1, 70);
    g.dh = Pick(1, 2);
    g.dw = Pick(1, 2);
    g.kh = Pick(1, 7);
    g.kw = Pick(1, 7);
    g.sh = Pick(1, 3);
    g.sw = Pick(1, 3);
    g.pad_top = Pick(0, (g.kh - 1) * g.dh);
    g.pad_left = Pick(0, (g.kw - 1) * g.dw);
    g.oh = std::max<int64_t>(
        1, (g.h + 2 * g.pad_top - (g.kh - 1) * g.dh - 1) / g.sh + 1);
    g.ow = std::max<int64_t>(
        1, (g.w + 2 * g.pad_left - (g.kw - 1) * g.dw - 1) / g.sw + 1);
    g.oc = Pick(1, 100);
    return g;
  }

 private:
  std::mt19937_64 rng_;
};

TEST(MakeBlocks, CoversTheOutputOnceWithinTheLimits) {
  Shapes shapes(1);
  int tiled = 0;
  for (int i = 0; i < 2000; ++i) {
    const Geometry g = shapes.Next();
    TilingLimits limits;
    limits.beat = 32;
    limits.max_rows = shapes.Pick(1, 300);
    limits.min_rows = shapes.Pick(1, 40);
    limits.max_in_bytes = shapes.Pick(0, 1) * shapes.Pick(500, 20000);
    limits.max_out_bytes = shapes.Pick(0, 1) * shapes.Pick(500, 20000);
    limits.group_bytes = g.oc;
    limits.ends = shapes.Pick(0, 1);
    const std::vector<Block> blocks = MakeBlocks(g, limits);
    if (blocks.empty()) continue;
    ++tiled;
    std::vector<int> seen(g.n * g.oh * g.ow, 0);
    for (const Block& b : blocks) {
      EXPECT_LE(b.rows(), limits.max_rows);
      if (limits.max_in_bytes > 0)
        EXPECT_LE(RegionBytes(g, b, limits), limits.max_in_bytes);
      if (limits.max_out_bytes > 0)
        EXPECT_LE(OutputBytes(g, b, limits), limits.max_out_bytes);
      if (b.ni > 1) EXPECT_EQ(b.ny, g.oh);
      if (b.ny > 1) EXPECT_EQ(b.nx, g.ow);
      EXPECT_EQ(b.x0 * g.oc % limits.beat, 0)
          << "a store could not begin there";
      for (int64_t n = b.i0; n < b.i0 + b.ni; ++n) {
        for (int64_t y = b.y0; y < b.y0 + b.ny; ++y) {
          for (int64_t x = b.x0; x < b.x0 + b.nx; ++x)
            ++seen[(n * g.oh + y) * g.ow + x];
        }
      }
    }
    ASSERT_THAT(seen, testing::Each(1)) << g.ToString();
  }
  EXPECT_GT(tiled, 1000);
}

TEST(MakeBlocks, RefusesWhatDoesNotFit) {
  Geometry g;
  g.c = 1000;
  TilingLimits limits;
  limits.max_in_bytes = 999;
  EXPECT_TRUE(MakeBlocks(g, limits).empty());
}

TEST(InputRegion, HoldsEveryValidTapOfTheBlock) {
  Shapes shapes(2);
  for (int i = 0; i < 300; ++i) {
    const Geometry g = shapes.Next();
    TilingLimits limits;
    limits.beat = 32;
    limits.max_rows = shapes.Pick(1, 100);
    limits.group_bytes = g.oc;
    for (const Block& b : MakeBlocks(g, limits)) {
      const Region r = InputRegion(g, b, limits.beat);
      const Taps t = ValidTaps(g, b);
      EXPECT_EQ(r.b0 % limits.beat, 0);
      EXPECT_GT(r.nl, 0);
      EXPECT_LE(r.l0 + r.nl, g.h);
      EXPECT_LE(r.b0 + r.nb, g.line_bytes());
      for (int64_t y = b.y0; y < b.y0 + b.ny; ++y) {
        for (int64_t ky = 0; ky < g.kh; ++ky) {
          const int64_t line = y * g.sh - g.pad_top + ky * g.dh;
          if (line < 0 || line >= g.h) continue;
          EXPECT_TRUE(line >= r.l0 && line < r.l0 + r.nl);
          EXPECT_TRUE(ky >= t.ky0 && ky < t.ky1)
              << "a tap that counts is left out";
        }
      }
      for (int64_t x = b.x0; x < b.x0 + b.nx; ++x) {
        for (int64_t kx = 0; kx < g.kw; ++kx) {
          const int64_t at = x * g.sw - g.pad_left + kx * g.dw;
          if (at < 0 || at >= g.w) continue;
          EXPECT_TRUE(at * g.c >= r.b0 && (at + 1) * g.c <= r.b0 + r.nb);
          EXPECT_TRUE(kx >= t.kx0 && kx < t.kx1);
        }
      }
    }
  }
}

TEST(PassPlan, EveryWeightOnceAndLoopsGiveTheSamePasses) {
  Shapes shapes(3);
  for (const Preset& preset : kPresets) {
    for (int i = 0; i < 200; ++i) {
      const Geometry g = shapes.Next();
      const Taps taps = {0, g.kh, 0, g.kw};
      const PassPlan plan = MakePassPlan(g, taps, preset);
      std::vector<int> seen(g.taps() * g.c, 0);
      for (const PassGroup& group : plan.groups) {
        ASSERT_EQ(static_cast<int64_t>(group.passes.size()),
                  group.t0 * group.t1);
        for (int64_t p = 0; p < group.t0 * group.t1; ++p) {
          const std::vector<Segment>& pass = group.passes[p];
          ASSERT_LE(static_cast<int64_t>(pass.size()), preset.segments);
          int64_t rows = 0;
          for (size_t s = 0; s < pass.size(); ++s) {
            const Segment& first = group.segments[s];
            EXPECT_EQ(pass[s].line, first.line + p / group.t0 * group.dy);
            EXPECT_EQ(pass[s].byte, first.byte + p % group.t0 * group.dx);
            EXPECT_EQ(pass[s].len, first.len);
            rows += pass[s].len;
            for (int64_t j = 0; j < pass[s].used; ++j) {
              const int64_t k = pass[s].weight + j;
              ++seen[k];
              // The weight's tap lies where the segment reads.
              EXPECT_EQ(pass[s].line, k / (g.kw * g.c) * g.dh);
              EXPECT_EQ(pass[s].byte + j,
                        k / g.c % g.kw * g.dw * g.c + k % g.c);
            }
          }
          EXPECT_LE(rows, preset.rows);
        }
      }
      ASSERT_THAT(seen, testing::Each(1));
    }
  }
}

TEST(PassPlan, IsDenseForUsualShapes) {
  const Preset& edge = *FindPreset("edge");
  for (const auto& [k, c] : std::vector<std::pair<int, int>>{{1, 64},
                                                             {3, 1},
                                                             {3, 3},
                                                             {3, 64},
                                                             {5, 24},
                                                             {6, 12},
                                                             {7, 3},
                                                             {7, 16}}) {
    Geometry g;
    g.h = g.w = 28;
    g.kh = g.kw = k;
    g.c = c;
    EXPECT_EQ(MakePassPlan(g, {0, k, 0, k}, edge).passes(),
              CeilDiv(k * k * c, edge.rows))
        << k << "x" << k << "x" << c;
  }
}

TEST(PassPlan, WholeContractionInFewDescriptors) {
  const Preset& nano = *FindPreset("nano");
  Geometry g;  // 324 bytes a kernel row: 40 passes and a half
  g.h = g.w = 22;
  g.kh = 8;
  g.kw = 6;
  g.c = 54;
  const PassPlan plan = MakePassPlan(g, {0, 8, 0, 6}, nano);
  EXPECT_EQ(plan.passes(), 324);
  EXPECT_LE(plan.groups.size(), 3u);
}

TEST(ChoosePitch, KeepsSegmentsInDifferentBanks) {
  const Preset& edge = *FindPreset("edge");
  Geometry g;
  g.h = g.w = g.oh = g.ow = 28;
  g.kh = g.kw = 3;
  g.c = 4;  // 12 bytes a kernel row: up to three lines a pass
  const int64_t pitch = ChoosePitch(g, g.line_bytes(), edge);
  EXPECT_EQ(pitch % edge.beat_bytes(), 0);
  for (int64_t x = 0; x < 28; ++x) {
    EXPECT_EQ(
        WindowCycles({{x * 4, 12}, {pitch + x * 4, 12}, {2 * pitch + x * 4, 8}},
                     edge),
        1);
  }
  EXPECT_GT(WindowCycles({{0, 12}, {256, 12}}, edge), 1) << "the same bank";
}

PlanBuffer Wanted(int64_t bytes, int first, int last,
                  std::vector<int> over = {}) {
  return {"", bytes, first, last, std::move(over), kNowhere};
}

TEST(BufferPlacer, BuffersThatLiveTogetherDoNotOverlap) {
  std::mt19937_64 rng(4);
  BufferPlacer placer(100000, 64);
  for (int layer = 0; layer < 200; ++layer) {
    placer.Place(Wanted(static_cast<int64_t>(rng() % 20000) + 1, layer,
                        layer + static_cast<int>(rng() % 4)));
  }
  const std::vector<PlanBuffer>& all = placer.buffers();
  EXPECT_GT(all.size(), 150u);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].at % 64, 0);
    EXPECT_LE(all[i].at + all[i].bytes, 100000);
    for (size_t j = 0; j < i; ++j) {
      EXPECT_TRUE(!all[j].alive(all[i].first, all[i].last) ||
                  all[i].at >= all[j].at + all[j].bytes ||
                  all[j].at >= all[i].at + all[i].bytes);
    }
  }
}

TEST(BufferPlacer, PrefersSpaceThatTheLayerBeforeDidNotUse) {
  BufferPlacer placer(300, 1);
  const auto place = [&](int64_t bytes, int layer) -> int64_t {
    const auto number = placer.Place(Wanted(bytes, layer, layer));
    return number ? placer.buffers()[*number].at : kNowhere;
  };
  EXPECT_EQ(place(100, 0), 0);
  EXPECT_EQ(place(100, 1), 100);
  EXPECT_EQ(place(250, 2), 0) << "there is no other";
  const size_t mark = placer.Mark();
  EXPECT_EQ(place(50, 2), 250);
  placer.Release(mark);
  EXPECT_EQ(placer.Used(2, 2), 250);
  EXPECT_EQ(place(51, 2), kNowhere);
}

TEST(BufferPlacer, TakesAPlaceThatMayBeOverwritten) {
  BufferPlacer placer(300, 1);
  placer.Place(Wanted(100, 0, 2));
  placer.Place(Wanted(100, 1, 2));
  placer.Place(Wanted(100, 2, 3, {1}));
  EXPECT_EQ(placer.buffers()[2].at, 100);
  EXPECT_EQ(placer.Used(2, 2), 200) << "shared bytes count once";
  placer.Place(Wanted(50, 2, 3, {0}));
  EXPECT_EQ(placer.buffers()[3].at, 200) << "another size";
  placer.Place(Wanted(100, 2, 2, {1}));
  EXPECT_EQ(placer.buffers().size(), 4u) << "the place is taken";
}

}  // namespace
}  // namespace systole::compiler
