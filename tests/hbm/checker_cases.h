// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Hand-made command traces for the timing checker: for each rule one that ends
// at its exact limit, or the given number of cycles before.

#ifndef SYSTOLE_TESTS_HBM_CHECKER_CASES_H_
#define SYSTOLE_TESTS_HBM_CHECKER_CASES_H_

#include <functional>
#include <string>
#include <vector>

#include "verif/hbm_model/timing_checker.h"

namespace systole::hbm {

struct Command {
  int64_t cycle;
  RowCmd row;
  ColCmd col;
  int bank;
  uint32_t address = 0;
};
inline Command Act(int64_t cycle, int bank) {
  return {cycle, RowCmd::kAct, ColCmd::kNop, bank};
}
inline Command Pre(int64_t cycle, int bank) {
  return {cycle, RowCmd::kPre, ColCmd::kNop, bank};
}
inline Command Prea(int64_t cycle) {
  return {cycle, RowCmd::kPrea, ColCmd::kNop, 0};
}
inline Command Ref(int64_t cycle) {
  return {cycle, RowCmd::kRef, ColCmd::kNop, 0};
}
inline Command RefSb(int64_t cycle, int bank) {
  return {cycle, RowCmd::kRefsb, ColCmd::kNop, bank};
}
inline Command Rda(int64_t cycle, int bank) {
  return {cycle, RowCmd::kNop, ColCmd::kRda, bank};
}
inline Command Wra(int64_t cycle, int bank) {
  return {cycle, RowCmd::kNop, ColCmd::kWra, bank};
}
inline Command Rd(int64_t cycle, int bank) {
  return {cycle, RowCmd::kNop, ColCmd::kRd, bank};
}
inline Command Wr(int64_t cycle, int bank) {
  return {cycle, RowCmd::kNop, ColCmd::kWr, bank};
}

inline ViolationLog Check(const std::vector<Command>& trace,
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

inline std::vector<std::string> Rules(const ViolationLog& log) {
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

inline std::vector<Case> Cases() {
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
                            Act(30 - e, 1)};
       },
       [](Timing* timing) { timing->tFAW = 30; }},
      {"tFAW", "five ACT after an older one",
       [=](int64_t e) {
         return std::vector{Act(0, 2),  Act(40, 0),  Act(46, 4),
                            Act(52, 8), Act(58, 12), Act(40 + 30 - e, 1)};
       },
       [](Timing* timing) { timing->tFAW = 30; }},
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
         return std::vector{Act(0, 7), RefSb(t.tRRD_L + 1 - e, 6)};
       }},
      {"tRRD_S", "ACT REFSB, groups differ",
       [=](int64_t e) {
         return std::vector{Act(0, 7), RefSb(t.tRRD_S + 1 - e, 8)};
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

}  // namespace systole::hbm

#endif  // SYSTOLE_TESTS_HBM_CHECKER_CASES_H_
