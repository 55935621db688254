// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/lower/requantise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "verif/golden/quantized_ops.h"

namespace systole::lower {
namespace {

using golden::TensorI32;

golden::Rounding GoldenRounding(model::Rounding rounding) {
  return rounding == model::Rounding::kSingle ? golden::Rounding::kSingle
                                              : golden::Rounding::kDouble;
}

TEST(RequantiseTest, EqualsTheGoldenArithmetic) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    const double factor = std::ldexp(1 + (random() % 1000) / 1000.0,
                                     static_cast<int>(random() % 61) - 31);
    const auto ours = QuantiseMultiplier(factor);
    const auto theirs = golden::QuantizeMultiplier(factor);
    ASSERT_EQ(ours.ok(), theirs.ok());
    if (!ours.ok()) continue;
    ASSERT_EQ(ours->multiplier, theirs->multiplier);
    ASSERT_EQ(ours->shift, theirs->shift);
    const auto value = static_cast<int32_t>(random() >> (32 + random() % 32));
    for (auto rounding : {model::Rounding::kSingle, model::Rounding::kDouble}) {
      for (int32_t v : {value, -value}) {
        ASSERT_EQ(Requantise(v, *ours, rounding),
                  golden::Requantize(v, *theirs, GoldenRounding(rounding)))
            << v << " " << factor;
      }
    }
  }
}

TEST(RequantiseTest, RefusesFactorsOutOfRange) {
  for (double bad :
       {-1.0, double{NAN}, double{INFINITY}, std::ldexp(1.0, 31)}) {
    EXPECT_FALSE(QuantiseMultiplier(bad).ok()) << bad;
  }
  EXPECT_EQ(QuantiseMultiplier(0)->multiplier, 0);
  EXPECT_EQ(QuantiseMultiplier(1e-30)->multiplier, 0);
}

// Every sum of a channel, against the golden dense layer.
void CheckAllSums(const DenseChannel& channel, const OutputRange& range) {
  const auto exact = ExactDenseRequant({channel}, range);
  ASSERT_TRUE(exact.ok()) << exact.status();
  std::vector<int32_t> sums;
  for (int64_t s = channel.low; s <= channel.high; ++s) {
    sums.push_back(static_cast<int32_t>(s));
  }
  const TensorI32 acc(static_cast<int>(sums.size()), 1, 1, 1, sums);
  const golden::OutputRange golden_range = {range.zero_point, range.clamp_min,
                                            range.clamp_max};
  const auto expected =
      golden::RequantizeReal(acc, {channel.factor}, golden_range).value();
  const golden::Multiplier m = {exact->channels[0].multiplier,
                                exact->channels[0].shift};
  const auto got = golden::RequantizeChannels(
                       acc, {m}, GoldenRounding(exact->rounding), golden_range)
                       .value();
  EXPECT_EQ(got.data(), expected.data()) << channel.factor;
}

TEST(ExactDenseRequantTest, EqualsDoublePrecisionForAllSums) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    const double factor =
        std::exp(std::uniform_real_distribution<double>(-9, -1)(random));
    const auto low = -static_cast<int64_t>(random() % 40000);
    const OutputRange range = {static_cast<int>(random() % 256) - 128, -128,
                               127};
    CheckAllSums({factor, low, low + static_cast<int64_t>(random() % 60000)},
                 range);
  }
}

// Powers of two, where every other sum lies between two results: halves below
// zero go down in double precision, up in fixed point.
TEST(ExactDenseRequantTest, Halves) {
  for (int e = 1; e <= 12; ++e) {
    CheckAllSums({std::ldexp(1.0, -e), -40000, 40000}, {3, -128, 127});
    CheckAllSums({std::ldexp(3.0, -e), -40000, 40000}, {-5, -20, 100});
  }
}

TEST(ExactDenseRequantTest, ClampedAndConstantChannels) {
  CheckAllSums({0.01, -5, 5}, {0, -128, 127});      // all zero
  CheckAllSums({0.5, 1000, 2000}, {0, -128, 127});  // all clamped
  CheckAllSums({0.01, -9000, 9000}, {-128, -128, 127});
  CheckAllSums({0.01, 77, 77}, {0, -128, 127});
}

TEST(ExactDenseRequantTest, SaysWhichChannelCannotBe) {
  // Sums so large that the multiplier's 31 bits do not place all steps.
  const DenseChannel easy = {0.01, -100, 100};
  const DenseChannel hard = {3e-8 / 7, -2000000000, 2000000000};
  const auto refused =
      ExactDenseRequant({easy, hard, {1e12, -10, 10}}, {0, -128, 127});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(refused.status().message().find("channel "), std::string::npos);
}

}  // namespace
}  // namespace systole::lower
