// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace systole::golden {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

int Uniform(std::mt19937& rng, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(rng);
}

TensorI8 Random(std::mt19937& rng, int n, int h, int w, int c) {
  TensorI8 tensor(n, h, w, c);
  for (int8_t& v : tensor.data())
    v = static_cast<int8_t>(Uniform(rng, -128, 127));
  return tensor;
}

// One output of a convolution, in the most literal way there is.
int64_t Direct(const TensorI8& x, const TensorI8& w, const Geometry& g, int zp,
               int n, int oy, int ox, int oc) {
  int64_t sum = 0;
  for (int ky = 0; ky < w.h(); ++ky) {
    for (int kx = 0; kx < w.w(); ++kx) {
      const int y = oy * g.stride_h + ky * g.dilation_h - g.pad_top;
      const int xx = ox * g.stride_w + kx * g.dilation_w - g.pad_left;
      for (int c = 0; c < x.c(); ++c) {
        // Padding has the value of the zero point.
        const bool inside = y >= 0 && y < x.h() && xx >= 0 && xx < x.w();
        sum += w.at(oc, ky, kx, c) * ((inside ? x.at(n, y, xx, c) : zp) - zp);
      }
    }
  }
  return sum;
}

TEST(Conv2D, HandComputed) {
  // 3x3 image, one channel, zero point 1; 2x2 kernel, no padding.
  const TensorI8 x(1, 3, 3, 1, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const TensorI8 w(1, 2, 2, 1, {1, -1, 2, 3});
  // Taps less 1: 0 1 2 / 3 4 5 / 6 7 8.
  EXPECT_THAT(Conv2D(x, w, {}, 1)->data(), ElementsAre(17, 22, 32, 37));
}

TEST(Conv2D, PaddingAddsNothingWhateverTheZeroPoint) {
  const TensorI8 w(1, 3, 3, 1, std::vector<int8_t>(9, 1));
  Geometry g;
  g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = 1;
  for (int zp : {-128, 0, 127}) {
    const TensorI8 x(1, 2, 2, 1, static_cast<int8_t>(zp));
    EXPECT_THAT(Conv2D(x, w, g, zp)->data(), Each(0));
  }
}

TEST(Conv2D, ExtremesOfTheNumberRange) {
  const TensorI8 x(1, 1, 1, 300, int8_t{127});
  const TensorI8 w(1, 1, 1, 300, int8_t{-128});
  EXPECT_THAT(Conv2D(x, w, {}, -128)->data(), ElementsAre(-128 * 255 * 300));
  const TensorI8 low(1, 1, 1, 300, int8_t{-128});
  EXPECT_THAT(Conv2D(low, w, {}, 0)->data(), ElementsAre(128 * 128 * 300));
}

TEST(Conv2D, SumsOutsideInt32AreAnError) {
  const int depth = 70000;  // 70000 * 128 * 255 > 2^31
  const TensorI8 x(1, 1, 1, depth, int8_t{127});
  const TensorI8 w(1, 1, 1, depth, int8_t{127});
  EXPECT_EQ(Conv2D(x, w, {}, -128).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_THAT(Conv2D(x, w, {}, 0)->data(), ElementsAre(127 * 127 * depth));
}

TEST(Conv2D, EqualsTheDirectSum) {
  const unsigned seed = 11;
  std::mt19937 rng(seed);
  for (int trial = 0; trial < 200; ++trial) {
    Geometry g;
    g.stride_h = Uniform(rng, 1, 3);
    g.stride_w = Uniform(rng, 1, 3);
    g.dilation_h = Uniform(rng, 1, 3);
    g.dilation_w = Uniform(rng, 1, 3);
    g.pad_top = Uniform(rng, 0, 3);
    g.pad_left = Uniform(rng, 0, 3);
    g.pad_bottom = Uniform(rng, 0, 3);
    g.pad_right = Uniform(rng, 0, 3);
    const TensorI8 x = Random(rng, Uniform(rng, 1, 2), Uniform(rng, 1, 9),
                              Uniform(rng, 1, 9), Uniform(rng, 1, 5));
    const TensorI8 w = Random(rng, Uniform(rng, 1, 4), Uniform(rng, 1, 4),
                              Uniform(rng, 1, 4), x.c());
    const int zp = Uniform(rng, -128, 127);
    const absl::StatusOr<TensorI32> y = Conv2D(x, w, g, zp);
    const int room_h =
        x.h() + g.pad_top + g.pad_bottom - g.dilation_h * (w.h() - 1) - 1;
    const int room_w =
        x.w() + g.pad_left + g.pad_right - g.dilation_w * (w.w() - 1) - 1;
    if (room_h < 0 || room_w < 0) {
      EXPECT_EQ(y.status().code(), absl::StatusCode::kInvalidArgument);
      continue;
    }
    ASSERT_TRUE(y.ok()) << y.status();
    ASSERT_EQ(y->h(), room_h / g.stride_h + 1);
    ASSERT_EQ(y->w(), room_w / g.stride_w + 1);
    for (int n = 0; n < y->n(); ++n) {
      for (int oy = 0; oy < y->h(); ++oy) {
        for (int ox = 0; ox < y->w(); ++ox) {
          for (int oc = 0; oc < y->c(); ++oc) {
            ASSERT_EQ(y->at(n, oy, ox, oc), Direct(x, w, g, zp, n, oy, ox, oc))
                << "seed " << seed << " trial " << trial;
          }
        }
      }
    }
  }
}

TEST(Conv2D, NamesShapesThatDoNotFit) {
  const absl::StatusOr<TensorI32> y =
      Conv2D(TensorI8(1, 3, 3, 2), TensorI8(1, 1, 1, 3), {}, 0);
  EXPECT_EQ(y.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(y.status().message(), HasSubstr("1x3x3x2"));
  EXPECT_FALSE(Conv2D(TensorI8(1, 3, 3, 2), TensorI8(1, 4, 1, 2), {}, 0).ok());
}

TEST(Matmul, HandComputed) {
  Matrix<int8_t> a(2, 3), b(2, 3);
  a << 1, 2, 3, -128, 0, 127;
  b << 1, 0, -1, 2, 2, 2;
  const absl::StatusOr<Matrix<int32_t>> y = Matmul(a, b, 1);
  Matrix<int32_t> expected(2, 2);
  expected << 0 - 2, 0 + 2 + 4, -129 - 126, -258 - 2 + 252;
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(*y, expected);
  EXPECT_FALSE(Matmul(a, Matrix<int8_t>(2, 4), 0).ok());
}

TEST(AddBias, SaturatesAndTells) {
  TensorI32 acc(1, 1, 2, 2, {1, 2, INT32_MAX, INT32_MIN});
  bool saturated = false;
  ASSERT_TRUE(AddBias({10, -20}, acc, saturated).ok());
  EXPECT_THAT(acc.data(), ElementsAre(11, -18, INT32_MAX, INT32_MIN));
  EXPECT_TRUE(saturated);
  EXPECT_FALSE(AddBias({1}, acc, saturated).ok());
}

TEST(RequantizeChannels, ScalesPerChannelThenClamps) {
  const TensorI32 acc(1, 1, 3, 2, {100, 100, -100, -100, INT32_MAX, INT32_MIN});
  const Multiplier m[] = {{1 << 30, 0}, {1 << 30, -1}};  // 1/2 and 1/4
  EXPECT_THAT(
      RequantizeChannels(acc, m, Rounding::kDouble, {5, -40, 100})->data(),
      ElementsAre(55, 30, -40, -20, 100, -40));
  // Zero point and saturated value do not wrap.
  const Multiplier big[] = {{INT32_MAX, 30}, {INT32_MAX, 30}};
  EXPECT_THAT(
      RequantizeChannels(acc, big, Rounding::kSingle, {127, -128, 127})->data(),
      ElementsAre(127, 127, -128, -128, 127, -128));
  EXPECT_FALSE(
      RequantizeChannels(acc, absl::MakeSpan(m, 1), Rounding::kDouble, {})
          .ok());
}

TEST(MaxPool, LeavesPaddingOut) {
  const TensorI8 x(1, 2, 2, 1, {-100, -50, -128, -60});
  Geometry g;
  g.pad_top = g.pad_left = 1;
  // Windows 2x2 from -1: {-100}, {-100,-50}, {-100,-128}, all four.
  EXPECT_THAT(MaxPool(x, 2, 2, g, {})->data(),
              ElementsAre(-100, -50, -100, -50));
  EXPECT_THAT(MaxPool(x, 2, 2, g, {0, -70, -55})->data(),
              ElementsAre(-70, -55, -70, -55));
}

TEST(AveragePool, DividesByTheTapsInside) {
  const TensorI8 x(1, 2, 2, 1, {-101, 50, -128, 61});
  Geometry g;
  g.pad_top = g.pad_left = 1;
  // -101; -51/2; -229/2; -118/4 = -29.5.
  EXPECT_THAT(AveragePool(x, 2, 2, g, {})->data(),
              ElementsAre(-101, -26, -115, -30));
  const TensorI8 low(1, 7, 7, 1, int8_t{-128});
  EXPECT_THAT(AveragePool(low, 7, 7, {}, {})->data(), ElementsAre(-128));
}

TEST(Pools, WindowInThePaddingIsAnError) {
  Geometry g;
  g.pad_top = 2;
  const absl::StatusOr<TensorI8> y = MaxPool(TensorI8(1, 3, 3, 1), 2, 2, g, {});
  EXPECT_EQ(y.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(y.status().message(), HasSubstr("padding"));
}

TEST(Add, HandComputed) {
  // Equal scales of 1 everywhere: y = a + b, clamped.
  const absl::StatusOr<std::array<Multiplier, 3>> m = AddMultipliers(1, 1, 1);
  ASSERT_TRUE(m.ok()) << m.status();
  const TensorI8 a(1, 1, 1, 5, {1, 100, -100, 0, -128});
  const TensorI8 b(1, 1, 1, 5, {2, 100, -100, 0, 127});
  AddParameters p{0, 0, (*m)[0], (*m)[1], (*m)[2]};
  EXPECT_THAT(Add(a, b, p, Rounding::kDouble, {})->data(),
              ElementsAre(3, 127, -128, 0, -1));
  // (a - 10) + (b + 20) + 3, clamped to -50..50.
  p.zero_point_a = 10;
  p.zero_point_b = -20;
  EXPECT_THAT(Add(a, b, p, Rounding::kDouble, {3, -50, 50})->data(),
              ElementsAre(16, 50, -50, 13, 12));
  EXPECT_FALSE(Add(a, TensorI8(1, 1, 5, 1), p, Rounding::kDouble, {}).ok());
}

TEST(Add, HalvesGoAwayFromZero) {
  // Output scale 2: (a + b) / 2.
  const std::array<Multiplier, 3> m = *AddMultipliers(1, 1, 2);
  const TensorI8 a(1, 1, 1, 4, {1, -1, 3, -3});
  const TensorI8 b(1, 1, 1, 4, int8_t{0});
  EXPECT_THAT(
      Add(a, b, {0, 0, m[0], m[1], m[2]}, Rounding::kDouble, {})->data(),
      ElementsAre(1, -1, 2, -2));
}

TEST(Add, MultipliersAreBelowOne) {
  // 1/2, 1/4 and 2 / 2^20.
  const std::array<Multiplier, 3> m = *AddMultipliers(1, 0.5, 1);
  const int shifts[] = {0, -1, -18};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(m[i].multiplier, 1 << 30);
    EXPECT_EQ(m[i].shift, shifts[i]);
  }
  EXPECT_FALSE(AddMultipliers(1, 1, 1e-7).ok());
  EXPECT_FALSE(AddMultipliers(0, 0, 1).ok());
}

}  // namespace
}  // namespace systole::golden
