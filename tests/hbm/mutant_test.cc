// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Controllers with one time of the table wrong each: the checker must report
// exactly that rule, and nothing for the right one. The right one drives each
// time to its limit: a checker whose table asks for one cycle more reports
// exactly that time.

#include <memory>
#include <random>
#include <set>
#include <string>

#include "Vmutants.h"
#include "gtest/gtest.h"
#include "verif/hbm_model/phy.h"
#include "verif/hbm_model/timing_checker.h"

namespace systole::hbm {
namespace {

// In the order of hbm_mutants.sv. Not in the list: tRC, which tRAS + tRP imply,
// tCCD_S, which the scheduler's two steps imply (LongerTimes in hbm_test.cc has
// both), and the two latencies.
constexpr const char* kMutants[] = {
    "",       "tRCDRD", "tRCDWR", "tRP",    "tRAS",   "tRRD_S",
    "tRRD_L", "tFAW",   "tRREFD", "tCCD_L", "tWTR_S", "tWTR_L",
    "tRTW",   "tWR",    "tRTP",   "tRFC",   "tRFCSB", "tREFI"};
constexpr int kCount = static_cast<int>(std::size(kMutants));

struct Stimulus {
  std::mt19937 random;
  bool asking = false, write = false;
  uint32_t bank = 0, row = 0, col = 0;
  int run = 0, idle = 0;
};

template <size_t N>
void Put(VlWide<N>* port, int lsb, int width, uint32_t value) {
  for (int i = 0; i < width; ++i) {
    uint32_t bit = 1u << (lsb + i) % 32;
    uint32_t& word = (*port)[(lsb + i) / 32];
    word = value >> i & 1 ? word | bit : word & ~bit;
  }
}

TEST(MutantTest, EachWrongTimeIsReported) {
  VerilatedContext context;
  context.randReset(2);
  context.randSeed(3);
  Vmutants model(&context);
  std::vector<ViolationLog> logs(kCount, ViolationLog(100000));
  std::vector<TimingChecker> checkers;
  std::vector<Stimulus> stimuli(kCount);
  std::vector<int64_t> columns(kCount);
  Timing table;
  table.tFAW = 30;  // as in hbm_mutants.sv
  // One more cycle of each time, against the right controller.
  std::vector<Timing> longer;
  for (int i = 1; i < kCount; ++i) {
    longer.push_back(table);
    for (const TimingField& field : kTimingFields)
      if (field.name == kMutants[i]) longer.back().*field.value += 1;
  }
  std::vector<ViolationLog> longer_logs(longer.size(), ViolationLog(100000));
  std::vector<TimingChecker> longer_checkers;
  for (size_t i = 0; i < longer.size(); ++i) {
    longer_checkers.emplace_back(0, longer[i], kRefreshPostpone,
                                 &longer_logs[i]);
  }
  for (int i = 0; i < kCount; ++i) {
    checkers.emplace_back(i, table, kRefreshPostpone, &logs[i]);
    stimuli[i].random.seed(100 + i);
  }
  model.clk_i = 0;
  model.rst_ni = 0;
  model.req_valid_i = 0;
  model.eval();
  for (int64_t cycle = 0; cycle < 60000; ++cycle) {
    model.rst_ni = cycle >= 3;
    for (int i = 0; i < kCount; ++i) {
      Stimulus& s = stimuli[i];
      if (!s.asking && s.idle == 0) {
        // Runs of one direction over few rows of few or all banks: hits,
        // conflicts, turnarounds, all close together.
        if (s.run == 0) {
          s.run = 1 + static_cast<int>(s.random() % 12);
          s.write = s.random() % 2;
          if (s.random() % 8 == 0) s.idle = static_cast<int>(s.random() % 60);
        }
        --s.run;
        s.bank = s.random() % 3 == 0 ? s.bank : s.random() % kBanks;
        s.row = s.random() % 3 == 0 ? s.random() % 2 : s.row;
        s.col = s.random() % kCols;
        s.asking = true;
        Put(&model.req_bank_i, i * 4, 4, s.bank);
        Put(&model.req_row_i, i * 15, 15, s.row);
        Put(&model.req_col_i, i * 5, 5, s.col);
      }
      if (s.idle > 0 && !s.asking) --s.idle;
      uint32_t bit = 1u << i;
      model.req_valid_i =
          s.asking ? model.req_valid_i | bit : model.req_valid_i & ~bit;
      model.req_write_i =
          s.write ? model.req_write_i | bit : model.req_write_i & ~bit;
    }
    model.eval();
    for (int i = 0; i < kCount; ++i) {
      if (model.rst_ni && (model.req_ready_o >> i & 1))
        stimuli[i].asking = false;
    }
    model.clk_i = 1;
    model.eval();
    for (int i = 0; i < kCount; ++i) {
      auto row = static_cast<RowCmd>(PortBits(model.row_cmd_o, i * 3, 3));
      auto col = static_cast<ColCmd>(PortBits(model.col_cmd_o, i * 3, 3));
      columns[i] += col != ColCmd::kNop;
      const int row_bank =
          static_cast<int>(PortBits(model.row_bank_o, i * 4, 4));
      const uint32_t row_addr = PortBits(model.row_addr_o, i * 15, 15);
      const int col_bank =
          static_cast<int>(PortBits(model.col_bank_o, i * 4, 4));
      const uint32_t col_addr = PortBits(model.col_addr_o, i * 5, 5);
      checkers[i].Refresh(cycle);
      checkers[i].Row(cycle, row, row_bank, row_addr);
      checkers[i].Column(cycle, col, col_bank, col_addr);
      for (TimingChecker& checker : longer_checkers) {
        if (i != 0) break;
        checker.Row(cycle, row, row_bank, row_addr);
        checker.Column(cycle, col, col_bank, col_addr);
      }
    }
    model.clk_i = 0;
    model.eval();
  }
  model.final();
  for (int i = 1; i < kCount; ++i) {
    if (std::string_view(kMutants[i]) == "tREFI") continue;
    const ViolationLog& log = longer_logs[i - 1];
    EXPECT_GT(log.count(), 0) << kMutants[i] << " is never driven to its limit";
    for (const Violation& violation : log.violations())
      ASSERT_EQ(violation.rule, kMutants[i]) << violation.text;
  }
  for (int i = 0; i < kCount; ++i) {
    std::set<std::string> rules, expected;
    for (const Violation& violation : logs[i].violations())
      rules.emplace(violation.rule);
    if (i > 0) expected.insert(kMutants[i]);
    // A bank that is closed or opened early is too short from ACT to ACT too.
    if (expected.count("tRAS") + expected.count("tRP") > 0) rules.erase("tRC");
    EXPECT_EQ(rules, expected) << "mutant " << i;
    EXPECT_GT(columns[i], 5000) << "mutant " << i;
    std::printf(
        "[ figure   ] controller with %s wrong: %d violations in %d columns\n",
        i > 0 ? kMutants[i] : "nothing", static_cast<int>(logs[i].count()),
        static_cast<int>(columns[i]));
  }
}

}  // namespace
}  // namespace systole::hbm
