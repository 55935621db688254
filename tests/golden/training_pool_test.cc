// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Pools of the golden training step against numbers by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "verif/golden/fp32.h"
#include "verif/golden/training_layers.h"

namespace systole::golden {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

LayerGeometry Images(int images, int height, int width) {
  LayerGeometry g = {};
  g.images = images;
  g.out_height = height;
  g.out_width = width;
  return g;
}

// One channel: a, pooled, its gradient, da.
void ExpectPool(const LayerGeometry& g, const TrainingPool& pool,
                const std::vector<float>& a, const std::vector<float>& pooled,
                const std::vector<float>& dpooled,
                const std::vector<float>& da) {
  const auto column = [](const std::vector<float>& values) {
    return Fp32Matrix(Eigen::Map<const Fp32Matrix>(
        values.data(), static_cast<Eigen::Index>(values.size()), 1));
  };
  const auto same = [](const Fp32Matrix& got, const std::vector<float>& want) {
    if (got.size() != static_cast<Eigen::Index>(want.size())) return false;
    for (size_t i = 0; i < want.size(); ++i) {
      const bool equal =
          std::isnan(want[i])
              ? fp32::ToBits(got.data()[i]) == 0x7FC00000
              : fp32::ToBits(got.data()[i]) == fp32::ToBits(want[i]);
      if (!equal) return false;
    }
    return true;
  };
  const Fp32Matrix p = PoolForward(g, pool, column(a));
  EXPECT_TRUE(same(p, pooled)) << p;
  const Fp32Matrix d = PoolGradient(g, pool, column(a), p, column(dpooled));
  EXPECT_TRUE(same(d, da)) << d;
}

using Kind = TrainingPool::Kind;

TEST(MaxPool, TheFirstMaximumTakesTheGradient) {
  ExpectPool(Images(2, 2, 4), {Kind::kMax, 2, 2, 2, 2},
             {1, 3, 0, 0,     //
              2, 3, 0, 0,     //
              5, 4, 1, kNan,  //
              5, 5, 2, 3},
             {3, 0, 5, kNan}, {7, 8, 9, 10},
             {0, 7, 8, 0,  //
              0, 0, 0, 0,  //
              9, 0, 0, 0,  //
              0, 0, 0, 0});
}

// In fp32 1 + 2^-24 is 1 and 2^-24 + 2^-24 + 1 is more; bf16 at the end.
TEST(MaxPool, OverlappingWindowsAddInTheirOrder) {
  constexpr float kHuge = 16777216.0f;
  ExpectPool(Images(1, 1, 5), {Kind::kMax, 1, 3, 1, 1}, {1, 2, 9, 2, 1},
             {9, 9, 9}, {kHuge, 1, -kHuge}, {0, 0, 0, 0, 0});
  ExpectPool(Images(1, 1, 5), {Kind::kMax, 1, 3, 1, 1}, {1, 2, 9, 2, 1},
             {9, 9, 9}, {kHuge, -kHuge, 1}, {0, 0, 1, 0, 0});
  // Lines of windows come first.
  ExpectPool(Images(1, 3, 3), {Kind::kMax, 2, 2, 1, 1},
             {0, 0, 0, 0, 4, 0, 0, 0, 0}, {4, 4, 4, 4}, {1, kHuge, 1, -kHuge},
             {0, 0, 0, 0, 0, 0, 0, 0, 0});
}

// Taps in the padding do not count: not as 0, and not in the number.
TEST(AveragePool, PaddingDoesNotCount) {
  ExpectPool(Images(1, 2, 3), {Kind::kAverage, 3, 3, 2, 2, /*same=*/true},
             {-1, -2, -3,  //
              -4, -5, -6},
             {-3, -4}, {4, 8},
             {1, 3, 2,  //
              1, 3, 2});
  ExpectPool(Images(1, 2, 3), {Kind::kMax, 3, 3, 2, 2, /*same=*/true},
             {-1, -2, -3,  //
              -4, -5, -6},
             {-1, -2}, {4, 8},
             {4, 8, 0,  //
              0, 0, 0});
}

// 2^25 + 1 is 2^25.
TEST(AveragePool, AddsInTheOrderOfTheTaps) {
  constexpr float kHuge = 33554432.0f;
  ExpectPool(Images(1, 2, 4), {Kind::kAverage, 2, 2, 2, 2},
             {kHuge, -kHuge, kHuge, 1,  //
              1, 1, -kHuge, 1},
             {0.5f, 0.25f}, {4, 8},
             {1, 1, 2, 2,  //
              1, 1, 2, 2});
}

TEST(AveragePool, PositionsInNoWindow) {
  ExpectPool(Images(1, 1, 5), {Kind::kAverage, 1, 1, 1, 3}, {1, 2, 3, 4, 5},
             {1, 4}, {7, 8}, {7, 0, 0, 8, 0});
}

}  // namespace
}  // namespace systole::golden
