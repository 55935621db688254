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
#include "verif/hbm_model/timing_checker.h"

namespace systole::hbm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Command {
  int64_t cycle;
  RowCmd row;
  ColCmd col;
  int bank;
  uint32_t address = 0;
};
Command Act(int64_t cycle, int bank) {
  return {cycle, RowCmd::kAct, ColCmd::kNop, bank};
}
Command Pre(int64_t cycle, int bank) {
  return {cycle, RowCmd::kPre, ColCmd::kNop, bank};
}
Command Prea(int64_t cycle) { return {cycle, RowCmd::kPrea, ColCmd::kNop, 0}; }
Command Ref(int64_t cycle) { return {cycle, RowCmd::kRef, ColCmd::kNop, 0}; }
Command RefSb(int64_t cycle, int bank) {
  return {cycle, RowCmd::kRefsb, ColCmd::kNop, bank};
}
Command Rda(int64_t cycle, int bank) {
  return {cycle, RowCmd::kNop, ColCmd::kRda, bank};
}
Command Wra(int64_t cycle, int bank) {
  return {cycle, RowCmd::kNop, ColCmd::kWra, bank};
}
Command Rd(int64_t cycle, int bank) {
  return {cycle, RowCmd::kNop, ColCmd::kRd, bank};
}
Command Wr(int64_t cycle, int bank) {
  return {cycle, RowCmd::kNop, ColCmd::kWr, bank};
}

ViolationLog Check(const std::vector<Command>& trace,
                   const Timing& timing = {}) {
  ViolationLog log;
  TimingChecker checker(3, timing, kRefreshPostpone, &log);
  for (const Command& c : trace) {
    checker.Refresh(c.cycle);
    checker.Row(c.cycle, c.row, c.bank, c.address);
    checker.Column(c.cycle, c.col, c.bank, c.address);
  }
  return log;
}

std::vector<std::string> Rules(const ViolationLog& log) {
  std::vector<std::string> rules;
  for (const Violation& violation : log.violations())
    rules.emplace_back(violation.rule);
  return rules;
}

// Banks 0..3 are group 0, 4..7 group 1, 8..11 group 2, 12..15 group 3.
struct Case {
  const char* rule;
  const char* what;
  std::function<std::vector<Command>(int64_t early)>
      trace;  // last command `early` cycles before its limit
  std::function<void(Timing*)> adapt = [](Timing*) {};
};

std::vector<Case> Cases() {
  const Timing t;
  const int64_t wr_end = t.tCWL + kBurstCycles;
  return {
      {"tRCDRD", "ACT RD",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Rd(t.tRCDRD - e, 0)};
       }},
      {"tRCDWR", "ACT WR",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Wr(t.tRCDWR - e, 0)};
       }},
      {"tRAS", "ACT PRE",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Pre(t.tRAS - e, 5)};
       }},
      {"tRAS", "ACT PREA",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Prea(t.tRAS - e)};
       }},
      {"tRP", "PRE ACT",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Pre(60, 5), Act(60 + t.tRP - e, 5)};
       }},
      {"tRP", "PREA ACT",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Prea(60), Act(60 + t.tRP - e, 5)};
       }},
      {"tRP", "PRE REF",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Pre(60, 5), Ref(60 + t.tRP - e)};
       }},
      {"tRP", "PREA REF",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Prea(60), Ref(60 + t.tRP - e)};
       }},
      // tRC = tRAS + tRP, so only with a shorter tRAS can it be violated alone.
      {"tRC", "ACT ACT",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Pre(30, 5), Act(t.tRC - e, 5)};
       },
       [](Timing* timing) { timing->tRAS = 30; }},
      {"tRRD_S", "ACT ACT, groups differ",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Act(t.tRRD_S - e, 4)};
       }},
      {"tRRD_L", "ACT ACT, same group",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Act(t.tRRD_L - e, 3)};
       }},
      {"tFAW", "five ACT",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Act(6, 4), Act(12, 8), Act(18, 12),
                            Act(t.tFAW - e, 1)};
       }},
      {"tFAW", "five ACT after an older one",
       [=](int64_t e) {
         return std::vector{Act(0, 2),  Act(40, 0),  Act(46, 4),
                            Act(52, 8), Act(58, 12), Act(40 + t.tFAW - e, 1)};
       }},
      {"tCCD_S", "RD RD, groups differ",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Act(4, 4), Rd(30, 0),
                            Rd(30 + t.tCCD_S - e, 4)};
       }},
      {"tCCD_S", "WR WR, groups differ",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Act(4, 4), Wr(30, 0),
                            Wr(30 + t.tCCD_S - e, 4)};
       }},
      {"tCCD_L", "RD RD, same bank",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Rd(30, 0), Rd(30 + t.tCCD_L - e, 0)};
       }},
      {"tCCD_L", "RD RD, same group",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Act(6, 1), Rd(30, 0),
                            Rd(30 + t.tCCD_L - e, 1)};
       }},
      {"tCCD_L", "RD RD, same group, another group between",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Act(6, 4), Rd(30, 0), Rd(32, 4),
                            Rd(30 + 5 - e, 0)};
       },
       [](Timing* timing) { timing->tCCD_L = 5; }},
      {"tCCD_L", "WR WR, same group",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Act(6, 1), Wr(30, 0),
                            Wr(30 + t.tCCD_L - e, 1)};
       }},
      {"tWTR_S", "WR RD, groups differ",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Act(4, 4), Wr(30, 0),
                            Rd(30 + wr_end + t.tWTR_S - e, 4)};
       }},
      {"tWTR_L", "WR RD, same group",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Act(6, 1), Wr(30, 0),
                            Rd(30 + wr_end + t.tWTR_L - e, 1)};
       }},
      {"tRTW", "RD WR, groups differ",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Act(4, 4), Rd(30, 0),
                            Wr(30 + t.tRTW - e, 4)};
       }},
      {"tRTW", "RD WR, same bank",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Rd(30, 0), Wr(30 + t.tRTW - e, 0)};
       }},
      {"tWR", "WR PRE",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Wr(30, 0),
                            Pre(30 + wr_end + t.tWR - e, 0)};
       }},
      {"tWR", "WR PREA",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Wr(30, 0),
                            Prea(30 + wr_end + t.tWR - e)};
       }},
      {"tRTP", "RD PRE",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Rd(40, 0), Pre(40 + t.tRTP - e, 0)};
       }},
      {"tRFC", "REF ACT",
       [=](int64_t e) {
         return std::vector{Ref(10), Act(10 + t.tRFC - e, 7)};
       }},
      {"tRFC", "REF REF",
       [=](int64_t e) {
         return std::vector{Ref(10), Ref(10 + t.tRFC - e)};
       }},
      {"tRFC", "REF REFSB",
       [=](int64_t e) {
         return std::vector{Ref(10), RefSb(10 + t.tRFC - e, 7)};
       }},
      {"tRFCSB", "REFSB ACT, same bank",
       [=](int64_t e) {
         return std::vector{RefSb(10, 7), Act(10 + t.tRFCSB - e, 7)};
       }},
      {"tRFCSB", "REFSB ACT, same bank, another bank between",
       [=](int64_t e) {
         return std::vector{RefSb(10, 7), RefSb(100, 3),
                            Act(10 + t.tRFCSB - e, 7)};
       }},
      {"tRFCSB", "REFSB REFSB, same bank",
       [=](int64_t e) {
         return std::vector{RefSb(10, 7), RefSb(10 + t.tRFCSB - e, 7)};
       }},
      {"tRFCSB", "REFSB REF",
       [=](int64_t e) {
         return std::vector{RefSb(10, 7), Ref(10 + t.tRFCSB - e)};
       }},
      {"tRREFD", "REFSB REFSB, groups differ",
       [=](int64_t e) {
         return std::vector{RefSb(10, 7), RefSb(10 + t.tRREFD - e, 8)};
       }},
      {"tRREFD", "REFSB REFSB, same group",
       [=](int64_t e) {
         return std::vector{RefSb(10, 7), RefSb(10 + t.tRREFD - e, 6)};
       }},
      {"tRREFD", "REFSB ACT, groups differ",
       [=](int64_t e) {
         return std::vector{RefSb(10, 7), Act(10 + t.tRREFD - e, 8)};
       }},
      // tRREFD is longer, so only with a shorter one can it be violated alone.
      {"tRRD_L", "REFSB ACT, same group",
       [=](int64_t e) {
         return std::vector{RefSb(10, 7), Act(10 + t.tRRD_L - e, 6)};
       },
       [](Timing* timing) { timing->tRREFD = 3; }},
      {"tRRD_L", "ACT REFSB, same group",
       [=](int64_t e) {
         return std::vector{Act(0, 7), RefSb(t.tRRD_L - e, 6)};
       }},
      {"tRRD_S", "ACT REFSB, groups differ",
       [=](int64_t e) {
         return std::vector{Act(0, 7), RefSb(t.tRRD_S - e, 8)};
       }},
      {"tRP", "PRE REFSB",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Pre(60, 5), RefSb(60 + t.tRP - e, 5)};
       }},
      {"tRC", "ACT REFSB",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Pre(30, 5), RefSb(t.tRC - e, 5)};
       },
       [](Timing* timing) { timing->tRAS = 30; }},
      {"tRC", "ACT REF",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Pre(30, 5), Ref(t.tRC - e)};
       },
       [](Timing* timing) { timing->tRAS = 30; }},
      {"tRC", "ACT RDA REFSB, tRAS before the bank closes",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Rda(14, 5), RefSb(t.tRC - e, 5)};
       }},
      {kRuleRda.data(), "RDA REFSB",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Rda(60, 5),
                            RefSb(60 + t.tRTP + t.tRP - e, 5)};
       }},
      {kRuleRda.data(), "RDA ACT",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Rda(60, 5),
                            Act(60 + t.tRTP + t.tRP - e, 5)};
       }},
      {kRuleRda.data(), "RDA REF",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Rda(60, 5),
                            Ref(60 + t.tRTP + t.tRP - e)};
       }},
      {kRuleWra.data(), "WRA REFSB",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Wra(60, 5),
                            RefSb(60 + wr_end + t.tWR + t.tRP - e, 5)};
       }},
      {kRuleWra.data(), "WRA ACT",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Wra(60, 5),
                            Act(60 + wr_end + t.tWR + t.tRP - e, 5)};
       }},
      {kRuleWra.data(), "WRA REF",
       [=](int64_t e) {
         return std::vector{Act(0, 5), Wra(60, 5),
                            Ref(60 + wr_end + t.tWR + t.tRP - e)};
       }},
      {"tCCD_S", "RDA RD, groups differ",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Act(4, 4), Rda(30, 0),
                            Rd(30 + t.tCCD_S - e, 4)};
       }},
      {"tWTR_L", "WRA RD, same group",
       [=](int64_t e) {
         return std::vector{Act(0, 0), Act(6, 1), Wra(30, 0),
                            Rd(30 + wr_end + t.tWTR_L - e, 1)};
       }},
  };
}

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
