// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

//
// Arithmetic against the worked values of the specification and against outputs
// of the TensorFlow Lite reference kernels (tests/data/numerics/README.md).

#include "sim/iss/numerics.h"

#include <cmath>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "sim/iss/execute.h"

namespace systole::iss {
namespace {

// The table "Worked values" of docs/numerics.md.
TEST(Numerics, WorkedValues) {
  constexpr int32_t kHalf = 1 << 30;
  const struct {
    int32_t x, m;
    int s;
    int32_t twice, once;
  } kRows[] = {
      {3, kHalf, 0, 2, 2},
      {-3, kHalf, 0, -1, -1},
      {-2, kHalf, -1, -1, 0},
      {5, kHalf, -1, 2, 1},
      {kHalf, kHalf, 2, 1073741824, 2147483647},
      {kMin, kMax, 0, -2147483647, -2147483647},
      {kMin, kMax, -31, -1, -1},
      {kMax, kMax, 30, 2147483646, 2147483647},
  };
  for (const auto& r : kRows) {
    EXPECT_EQ(Requantise(r.x, r.m, r.s, false), r.twice)
        << r.x << " " << r.m << " " << r.s;
    EXPECT_EQ(Requantise(r.x, r.m, r.s, true), r.once)
        << r.x << " " << r.m << " " << r.s;
  }
}

TEST(Numerics, Primitives) {
  EXPECT_EQ(Srdhm(kMin, kMin), kMax);
  EXPECT_EQ(Srdhm(-1, 1 << 30), 0);   // -0.5 up
  EXPECT_EQ(Srdhm(-3, 1 << 30), -1);  // -1.5 up
  EXPECT_EQ(Rdbpot(1, 1), 1);         // 0.5 away from zero
  EXPECT_EQ(Rdbpot(-1, 1), -1);
  EXPECT_EQ(Rdbpot(-3, 1), -2);
  EXPECT_EQ(Rdbpot(kMin, 31), -1);
  EXPECT_EQ(Rdbpot(kMax, 31), 1);
  EXPECT_EQ(Rdbpot(7, 0), 7);
  EXPECT_EQ(Average(3, 2), 2);
  EXPECT_EQ(Average(-3, 2), -2);
  EXPECT_EQ(Average(-5, 4), -1);
  EXPECT_EQ(Average(0, 3), 0);
  EXPECT_EQ(Clamp8(300, -128, 127), 127);
  EXPECT_EQ(Clamp8(-300, -5, 127), -5);
}

struct Factor {
  int32_t multiplier;
  int shift;
};

// "From real numbers to integers" of docs/numerics.md.
Factor QuantiseMultiplier(double real) {
  if (real == 0) return {0, 0};
  int e;
  int64_t m = std::llround(std::frexp(real, &e) * 2147483648.0);
  if (m == int64_t{1} << 31) m = 1 << 30, ++e;
  if (e < -31) return {0, 0};
  return {static_cast<int32_t>(m), e};
}

class TensorFlowLite : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file(SYSTOLE_SOURCE_DIR "/tests/data/numerics/tflite.json");
    ASSERT_TRUE(file.is_open());
    cases_ = nlohmann::json::parse(file).at("cases");
  }
  nlohmann::json cases_;
};

// One input value, one product and one scale a channel: bias, requantisation,
// zero point, clamp.
TEST_F(TensorFlowLite, Requantise) {
  int compared = 0;
  for (const auto& c : cases_) {
    if (std::string(c["name"]).rfind("requantise", 0) != 0) continue;
    const bool single = c["rounding"] == "single";
    const int x =
        c["input"]["data"][0].get<int>() - c["input"]["zero_point"].get<int>();
    const double scale_in = c["input"]["scale"],
                 scale_out = c["output"]["scale"];
    const int zero_point = c["output"]["zero_point"];
    for (size_t i = 0; i < c["output"]["data"].size(); ++i) {
      const int32_t acc =
          Sat32(int64_t{x} * c["weights"]["data"][i].get<int>() +
                c["bias"][i].get<int64_t>());
      const Factor f = QuantiseMultiplier(
          scale_in * c["weights"]["scales"][i].get<double>() / scale_out);
      const int64_t v =
          int64_t{Requantise(acc, f.multiplier, f.shift, single)} + zero_point;
      ASSERT_EQ(int{Clamp8(v, -128, 127)}, c["output"]["data"][i].get<int>())
          << c["name"] << ", channel " << i;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 6000);
}

TEST_F(TensorFlowLite, Add) {
  int compared = 0;
  for (const auto& c : cases_) {
    if (c["op"] != "add") continue;
    const double s0 = c["input"]["scale"], s1 = c["input2"]["scale"],
                 s = c["output"]["scale"];
    const Factor f0 = QuantiseMultiplier(s0 / (2 * std::max(s0, s1)));
    const Factor f1 = QuantiseMultiplier(s1 / (2 * std::max(s0, s1)));
    const Factor f = QuantiseMultiplier(2 * std::max(s0, s1) / (1048576 * s));
    isa::Add d;
    d.zp0 = c["input"]["zero_point"], d.zp1 = c["input2"]["zero_point"],
    d.zp = c["output"]["zero_point"];
    d.mult0 = f0.multiplier, d.mult1 = f1.multiplier, d.mult = f.multiplier;
    d.shift0 = f0.shift, d.shift1 = f1.shift, d.shift = f.shift;
    d.clamp_min = c["activation"] == "none" ? -128 : d.zp;
    d.clamp_max =
        c["activation"] == "relu6"
            ? std::min(127, d.zp + static_cast<int>(std::lround(6 / s)))
            : 127;
    d.ny = 1, d.line_bytes = c["output"]["data"].size();
    d.src1 = 0x1000, d.dst = 0x2000;
    State state(*FindPreset("nano"), 1);
    for (uint32_t i = 0; i < d.line_bytes; ++i) {
      state.ub[d.src0 + i] =
          static_cast<uint8_t>(c["input"]["data"][i].get<int>());
      state.ub[d.src1 + i] =
          static_cast<uint8_t>(c["input2"]["data"][i].get<int>());
    }
    ASSERT_FALSE(Execute(d, &state));
    for (uint32_t i = 0; i < d.line_bytes; ++i) {
      ASSERT_EQ(int{static_cast<int8_t>(state.ub[d.dst + i])},
                c["output"]["data"][i].get<int>())
          << c["name"] << " " << i;
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace systole::iss
