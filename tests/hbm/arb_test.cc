// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_hbm_arb (three clients, turns of 4, 4 and 2) against a model of its
// rule, and its two promises: runs and turns.

#include <random>

#include "Vhbmarb.h"
#include "gtest/gtest.h"

namespace {

constexpr int kN = 3;
constexpr int kBurst[kN] = {4, 4, 2};

class ArbTest : public testing::Test {
 protected:
  ArbTest() : model_(&context_) {
    context_.randReset(2);
    model_.clk_i = 0;
    model_.rst_ni = 0;
    model_.req_i = 0;
    model_.accept_i = 0;
    model_.eval();
    Clock();
    model_.rst_ni = 1;
  }
  ~ArbTest() override { model_.final(); }
  void Clock() {
    model_.clk_i = 1;
    model_.eval();
    model_.clk_i = 0;
    model_.eval();
  }
  // The granted client, -1 if none.
  int Grant(int requests) {
    model_.req_i = requests;
    model_.accept_i = 0;
    model_.eval();
    EXPECT_EQ(model_.any_o, requests != 0);
    return model_.any_o ? model_.idx_o : -1;
  }
  int Transfer(int requests) {
    int granted = Grant(requests);
    model_.accept_i = granted >= 0;
    model_.eval();
    Clock();
    model_.accept_i = 0;
    return granted;
  }
  VerilatedContext context_;
  Vhbmarb model_;
};

TEST_F(ArbTest, RunsOfBurstInTurn) {
  for (int i = 0; i < 60; ++i) {
    const int place = i % 10;
    const int expected = place < 4 ? 0 : place < 8 ? 1 : 2;
    EXPECT_EQ(Transfer(0b111), expected) << i;
  }
}

TEST_F(ArbTest, AnIdleClientLosesTheGrant) {
  EXPECT_EQ(Transfer(0b001), 0);
  EXPECT_EQ(Transfer(0b110), 1);
  EXPECT_EQ(Transfer(0b111), 1);
}

TEST_F(ArbTest, AloneForever) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Transfer(0b100), 2);
}

TEST_F(ArbTest, FollowsTheRule) {
  std::mt19937 random(9);
  int last = 0, run = 0;
  int waits[kN] = {};
  for (int i = 0; i < 20000; ++i) {
    int requests = random() & random() & 7;
    if (random() % 4 == 0) requests = 7;
    bool take = random() % 3 != 0;
    int expected = -1;
    bool keep = (requests >> last & 1) && run != kBurst[last];
    for (int j = 1; j <= kN && expected < 0; ++j) {
      if (requests >> (last + j) % kN & 1) expected = (last + j) % kN;
    }
    if (keep) expected = last;
    if (!take) {
      ASSERT_EQ(Grant(requests), expected);
      continue;
    }
    ASSERT_EQ(Transfer(requests), expected);
    if (expected < 0) continue;
    run = keep ? run + 1 : 1;
    last = expected;
    for (int c = 0; c < kN; ++c) {
      waits[c] = (requests >> c & 1) && c != expected ? waits[c] + 1 : 0;
      ASSERT_LE(waits[c], 10 - kBurst[c]);
    }
  }
}

}  // namespace
