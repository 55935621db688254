// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The timing checker on hand-made command traces: for each rule, one trace at
// the exact limit (no violation) and the same with its last command one cycle
// too early (exactly that violation).

#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hbm/checker_cases.h"
#include "verif/hbm_model/timing_checker.h"

namespace systole::hbm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CheckerTest, AtTheLimitNothing) {
  for (const Case& c : Cases()) {
    Timing timing;
    c.adapt(&timing);
    EXPECT_THAT(Rules(Check(c.trace(0), timing)), IsEmpty())
        << c.rule << ", " << c.what;
  }
}

TEST(CheckerTest, OneCycleEarlyExactlyThatRule) {
  for (const Case& c : Cases()) {
    Timing timing;
    c.adapt(&timing);
    ViolationLog log = Check(c.trace(1), timing);
    ASSERT_THAT(Rules(log), ElementsAre(c.rule)) << c.rule << ", " << c.what;
    const Violation& violation = log.violations()[0];
    EXPECT_EQ(violation.second_cycle, c.trace(1).back().cycle);
    EXPECT_LT(violation.first_cycle, violation.second_cycle);
    EXPECT_EQ(violation.pc, 3);
    EXPECT_THAT(violation.text, testing::HasSubstr(c.rule));
  }
}

// Every time of the table but the two latencies, which the device itself keeps,
// has a case above or below.
TEST(CheckerTest, EveryTimeOfTheTableHasACase) {
  for (const TimingField& field : kTimingFields) {
    bool found =
        field.name == "tCL" || field.name == "tCWL" || field.name == "tREFI";
    for (const Case& c : Cases()) found |= field.name == c.rule;
    EXPECT_TRUE(found) << field.name;
  }
}

TEST(CheckerTest, BankState) {
  EXPECT_THAT(Rules(Check({Act(0, 2), Act(100, 2)})),
              ElementsAre(kRuleActOpen));
  EXPECT_THAT(Rules(Check({Rd(0, 2)})), ElementsAre(kRuleClosed));
  EXPECT_THAT(Rules(Check({Act(0, 2), Pre(50, 2), Wr(60, 2)})),
              ElementsAre(kRuleClosed));
  EXPECT_THAT(Rules(Check({Act(0, 2), Ref(100)})), ElementsAre(kRuleRefOpen));
  EXPECT_THAT(Rules(Check({Act(0, 2), RefSb(100, 2)})),
              ElementsAre(kRuleRefOpen));
  EXPECT_THAT(Rules(Check({Act(0, 2), RefSb(100, 3)})), IsEmpty());
  EXPECT_THAT(Rules(Check({Act(0, 2), Rda(50, 2), Rd(60, 2)})),
              ElementsAre(kRuleClosed));
  EXPECT_THAT(Rules(Check({Pre(0, 2), Prea(1), Act(2, 2)})),
              IsEmpty());  // closing a closed bank has no effect
}

TEST(CheckerTest, IllegalCommands) {
  EXPECT_THAT(Rules(Check({{0, static_cast<RowCmd>(7), ColCmd::kNop, 0}})),
              ElementsAre(kRuleEncoding));
  EXPECT_THAT(Rules(Check({{0, RowCmd::kNop, static_cast<ColCmd>(7), 0}})),
              ElementsAre(kRuleEncoding));
  EXPECT_THAT(Rules(Check({{0, RowCmd::kAct, ColCmd::kNop, 0, kRows}})),
              ElementsAre(kRuleEncoding));
  EXPECT_THAT(
      Rules(Check({Act(0, 0), {20, RowCmd::kNop, ColCmd::kRd, 0, kCols}})),
      ElementsAre(kRuleEncoding));
}

// The table's column times keep bursts apart; where they did not, the bus
// itself is checked.
TEST(CheckerTest, DataBus) {
  Timing t;
  t.tCCD_S = t.tCCD_L = 1;
  EXPECT_THAT(Rules(Check({Act(0, 0), Rd(20, 0), Rd(21, 0)}, t)),
              ElementsAre(kRuleDataBus));
  EXPECT_THAT(Rules(Check({Act(0, 0), Rd(20, 0), Rd(22, 0)}, t)), IsEmpty());
  t.tRTW = 1;
  int64_t meet = t.tCL - t.tCWL;
  EXPECT_THAT(Rules(Check({Act(0, 0), Rd(20, 0), Wr(20 + meet + 1, 0)}, t)),
              ElementsAre(kRuleDataBus));
  EXPECT_THAT(Rules(Check({Act(0, 0), Rd(20, 0), Wr(20 + meet + 2, 0)}, t)),
              IsEmpty());
}

TEST(CheckerTest, RefreshInterval) {
  Timing t;
  ViolationLog log;
  TimingChecker checker(0, t, kRefreshPostpone, &log);
  const int64_t limit = int64_t{kRefreshPostpone + 1} * t.tREFI;
  int64_t now = 0;
  auto run_to = [&](int64_t cycle) {
    for (; now <= cycle; ++now) checker.Refresh(now);
  };
  run_to(limit);
  EXPECT_EQ(log.count(), 0);
  run_to(limit + 1);
  ASSERT_THAT(Rules(log), ElementsAre("tREFI"));
  EXPECT_EQ(log.violations()[0].second_cycle, limit + 1);
  // One lapse is reported once an interval.
  run_to(limit + t.tREFI);
  EXPECT_EQ(log.count(), 1);
  run_to(limit + t.tREFI + 1);
  EXPECT_EQ(log.count(), 2);
}

TEST(CheckerTest, RefreshInAdvanceCountsUpToTheLimit) {
  Timing t;
  t.tREFI = 400;
  ViolationLog log;
  TimingChecker checker(0, t, /*refresh_postpone=*/1, &log);
  int64_t now = 0;
  for (int i = 0; i < 5; ++i, now += t.tRFC)
    checker.Row(now, RowCmd::kRef, 0, 0);
  // Of the five, issued by cycle 1040, at most 1040 / 400 + 2 = 4 count: the
  // fifth after 4 x 400 is due, one may be owed.
  for (now = 0; now <= 6 * t.tREFI; ++now) checker.Refresh(now);
  EXPECT_EQ(log.count(), 0);
  checker.Refresh(7 * t.tREFI + 1);
  EXPECT_THAT(Rules(log), ElementsAre("tREFI"));
}

// REFSB counts for its bank alone: a bank that is left out is overdue.
TEST(CheckerTest, BankRefreshInterval) {
  Timing t;
  for (const int left_out : {-1, 11}) {
    ViolationLog log;
    TimingChecker checker(0, t, /*refresh_postpone=*/1, &log);
    for (int64_t now = 0; now < 8 * t.tREFI; ++now) {
      checker.Refresh(now);
      const int64_t step = t.tREFI / kBanks;
      const int bank = static_cast<int>(now / step % kBanks);
      if (now % step == 0 && bank != left_out)
        checker.Row(now, RowCmd::kRefsb, bank, 0);
    }
    if (left_out < 0) {
      EXPECT_EQ(log.count(), 0);
      continue;
    }
    EXPECT_EQ(log.count(), 6);
    EXPECT_EQ(log.violations()[0].rule, "tREFI");
    EXPECT_EQ(log.violations()[0].bank, left_out);
    EXPECT_EQ(log.violations()[0].second_cycle, 2 * t.tREFI + 1);
  }
}

TEST(CheckerTest, LogKeepsTheFirstAndCountsAll) {
  ViolationLog log(2);
  for (int i = 0; i < 5; ++i) log.Add({"tRP", 0, i, 0, i, ""});
  EXPECT_EQ(log.count(), 5);
  ASSERT_EQ(log.violations().size(), 2u);
  EXPECT_EQ(log.violations()[1].bank, 1);
  log.Clear();
  EXPECT_EQ(log.count(), 0);
}

}  // namespace
}  // namespace systole::hbm
