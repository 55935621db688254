// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Checks every command of one HBM pseudo-channel against every rule of the
// timing table. For each command it compares the time since each earlier
// command that the table relates to it. It is independent of the controller.
// BusChecker does the same for the command buses that the two pseudo-channels
// of a channel share.
//
//   ViolationLog log;
//   TimingChecker checker(/*pc=*/0, Timing{}, kRefreshPostpone, &log);
//   checker.Row(cycle, RowCmd::kAct, bank, row);
//   checker.Column(cycle, ColCmd::kRd, bank, col);
//   checker.Refresh(cycle);  // every cycle: is a refresh overdue?
//   if (log.count() != 0) std::cerr << log.violations()[0].text;

#ifndef SYSTOLE_VERIF_HBM_MODEL_TIMING_CHECKER_H_
#define SYSTOLE_VERIF_HBM_MODEL_TIMING_CHECKER_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "systole/gen/hbm.h"

namespace systole::hbm {

// Rules other than the times of the table.
inline constexpr std::string_view kRuleActOpen = "ACT on an open bank";
inline constexpr std::string_view kRuleClosed =
    "column command on a closed bank";
inline constexpr std::string_view kRuleRefOpen = "refresh of an open bank";
inline constexpr std::string_view kRuleRda = "tRTP + tRP after RDA";
inline constexpr std::string_view kRuleWra = "tWR + tRP after WRA";
inline constexpr std::string_view kRuleDataBus = "data bus collision";
inline constexpr std::string_view kRuleRowBus = "row bus collision";
inline constexpr std::string_view kRuleColumnBus = "column bus collision";
inline constexpr std::string_view kRuleEncoding = "illegal command";

struct Violation {
  std::string_view rule;  // a name of kTimingFields or one of the above
  int pc;
  int bank;              // -1: all banks
  int64_t first_cycle;   // the earlier command, -1 if there is none
  int64_t second_cycle;  // the command that came too early (or, tREFI, the
                         // cycle in which a REF became overdue)
  std::string text;
};

// Counts all violations and keeps the first ones.
class ViolationLog {
 public:
  explicit ViolationLog(size_t keep = 256) : keep_(keep) {}
  void Add(Violation violation);
  void Clear();
  int64_t count() const { return count_; }
  const std::vector<Violation>& violations() const { return violations_; }

 private:
  size_t keep_;
  int64_t count_ = 0;
  std::vector<Violation> violations_;
};

class TimingChecker {
 public:
  // At any time, a bank may owe `refresh_postpone` refreshes (REF or REFSB),
  // and as many may have been issued in advance.
  TimingChecker(int pc, const Timing& timing, int refresh_postpone,
                ViolationLog* log);

  // At most one command per bus and cycle. Cycles must not decrease, and the
  // row command of a cycle comes first.
  void Row(int64_t cycle, RowCmd command, int bank, uint32_t row);
  void Column(int64_t cycle, ColCmd command, int bank, uint32_t col);

  // To be called in each cycle: checks for an overdue refresh.
  void Refresh(int64_t cycle) {
    if (cycle > refresh_deadline_) RefreshOverdue(cycle);
  }

  bool IsOpen(int bank) const { return open_[bank]; }

 private:
  enum Kind { kAct, kPre, kRef, kRefSb, kRd, kWr, kRda, kWra, kKinds };
  enum Scope { kBank, kBankGroup, kChannel };
  struct Rule {
    std::string_view name;
    Kind first;
    Scope scope;
    int cycles;
  };
  static constexpr int64_t kNever = -(int64_t{1} << 40);
  struct History {  // last cycle of each kind of command
    std::array<int64_t, kBanks> bank;
    std::array<int64_t, kBankGroups> group;
    int64_t channel;
  };

  void AddRule(Kind second, std::string_view name, Kind first, Scope scope,
               int cycles);
  // Returns whether a rule was violated.
  bool Check(int64_t cycle, Kind second, int bank);
  void Record(int64_t cycle, Kind kind, int bank);
  void RefreshBank(int64_t cycle, int bank);
  void SetRefreshDeadline();
  void Precharge(int64_t cycle, int bank);
  void DataBus(int64_t cycle, Kind kind, int bank, bool explained);
  void RefreshOverdue(int64_t cycle);
  void Report(std::string_view rule, int bank, int64_t first, int64_t second,
              std::string_view detail);

  int pc_;
  Timing timing_;
  int refresh_postpone_;
  ViolationLog* log_;
  std::array<std::vector<Rule>, kKinds> rules_;  // indexed by the later command
  std::array<History, kKinds> last_;
  std::array<bool, kBanks> open_{};
  std::array<int64_t, 4> acts_;  // the last four ACT, oldest at act_index_
  int act_index_ = 0;
  std::array<int64_t, 2> bus_from_;  // data of the last RD and WR
  std::array<int64_t, kBanks> refreshes_{};
  int64_t refresh_deadline_;
};

// Checks the command buses of a channel. Each carries one command per cycle, of
// either pseudo-channel. ACT takes the row bus for two cycles.
class BusChecker {
 public:
  BusChecker(int channel, ViolationLog* log) : channel_(channel), log_(log) {}

  // Commands other than NOP; cycles must not decrease.
  void Row(int64_t cycle, int pc, RowCmd command);
  void Column(int64_t cycle, int pc);

 private:
  struct Bus {
    int64_t from = -1, free = 0;  // the last command: its cycle, the next free
    int pc = 0;
  };
  void Take(Bus* bus, std::string_view rule, int64_t cycle, int pc, int cycles);

  int channel_;
  ViolationLog* log_;
  Bus row_, column_;
};

}  // namespace systole::hbm

#endif  // SYSTOLE_VERIF_HBM_MODEL_TIMING_CHECKER_H_
