// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The scaling of the lanes alone against the reference: corners of values and
// multipliers with every shift in both roundings, random ones, truncation, and
// gaps between them.

#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "Vvector_scale.h"
#include "gtest/gtest.h"
#include "tests/rtl/vector/reference.h"
#include "verilated.h"

namespace systole::vector_test {
namespace {

constexpr int kLanes = 8;
constexpr int kLatency = 6;

struct Case {
  int32_t x = 0, m = 0;
  int shift = 0;
};

class ScaleTest : public testing::Test {
 protected:
  ScaleTest() : model_(&context_), random_(1) {
    model_.rst_ni = 0;
    for (int i = 0; i < 4; ++i) Clock();
    model_.rst_ni = 1;
  }
  ~ScaleTest() override { EXPECT_FALSE(context_.gotError()); }

  void Clock() {
    model_.clk_i = 0;
    model_.eval();
    model_.clk_i = 1;
    model_.eval();
  }

  static int64_t Expected(const Case& c, bool single, bool truncate) {
    if (truncate) return static_cast<int64_t>(c.x) * c.m >> 24;
    return Requantise(c.x, c.m, c.shift, single);
  }

  // All cases, kLanes at a time, with random gaps.
  void Run(std::vector<Case> cases, bool single, bool truncate) {
    while (cases.size() % kLanes != 0) cases.push_back(cases.back());
    struct Row {
      bool valid;
      size_t first;
    };
    std::deque<Row> flying;
    size_t next = 0;
    for (int idle = 0; idle < kLatency + 1;) {
      const bool valid = next < cases.size() && random_() % 4 != 0;
      idle = next < cases.size() ? 0 : idle + 1;
      model_.valid_i = valid;
      model_.round_i = (single || truncate ? 0 : 2) | (truncate ? 1 : 0);
      for (int l = 0; l < kLanes; ++l) {
        const Case c = valid ? cases[next + l]
                             : Case{static_cast<int32_t>(random_()),
                                    static_cast<int32_t>(random_()), 0};
        model_.x_i[l] = c.x;
        model_.m_i[l] = c.m;
        model_.s_i[l] = truncate ? 7 : c.shift;
      }
      flying.push_back({valid, next});
      if (valid) next += kLanes;
      Clock();
      if (flying.size() < kLatency) continue;
      const Row row = flying.front();
      flying.pop_front();
      for (int l = 0; row.valid && l < kLanes; ++l) {
        const Case& c = cases[row.first + l];
        ASSERT_EQ(static_cast<int32_t>(model_.r_o[l]),
                  Expected(c, single, truncate))
            << "x " << c.x << " m " << c.m << " shift " << c.shift
            << (single ? " single" : " double");
      }
    }
  }

  VerilatedContext context_;
  Vvector_scale model_;
  std::mt19937 random_;
};

std::vector<int32_t> Corners() {
  std::vector<int32_t> corners = {0};
  for (int bit = 0; bit < 31; ++bit) {
    for (int32_t d = -1; d <= 1; ++d) {
      corners.push_back((int32_t{1} << bit) + d);
      corners.push_back(-(int32_t{1} << bit) + d);
    }
  }
  corners.push_back(INT32_MAX);
  corners.push_back(INT32_MIN);
  return corners;
}

TEST_F(ScaleTest, CornersWithEveryShift) {
  std::vector<Case> cases;
  for (const int32_t x : Corners()) {
    for (const int32_t m : {0, 1, 1 << 30, (1 << 30) + 1, INT32_MAX, 1 << 15,
                            1 << 16, 0x5555'5555, 0x7fff'0000}) {
      for (int shift = -31; shift <= 30; ++shift) {
        cases.push_back({x, m, shift});
      }
    }
  }
  Run(cases, false, false);
  Run(cases, true, false);
}

TEST_F(ScaleTest, Random) {
  std::vector<Case> cases(400'000);
  for (Case& c : cases) {
    c.x = static_cast<int32_t>(random_()) >> random_() % 32;
    c.m = static_cast<int32_t>(random_() >> (1 + random_() % 31));
    c.shift = static_cast<int>(random_() % 62) - 31;
  }
  Run(cases, false, false);
  Run(cases, true, false);
}

TEST_F(ScaleTest, Truncation) {
  std::vector<Case> cases;
  for (int32_t x = 0; x < 65'536; x += 7) {
    for (const int32_t m : {1 << 24, 1 << 16, 0x55'5556, 65'794}) {
      cases.push_back({x, m, 0});
    }
  }
  Run(cases, false, true);
}

}  // namespace
}  // namespace systole::vector_test
