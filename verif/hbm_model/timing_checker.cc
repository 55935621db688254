// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/hbm_model/timing_checker.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace systole::hbm {
namespace {

constexpr std::array<std::string_view, 8> kKindNames = {
    "ACT", "PRE", "REF", "REFSB", "RD", "WR", "RDA", "WRA"};

}  // namespace

void ViolationLog::Add(Violation violation) {
  ++count_;
  if (violations_.size() < keep_) violations_.push_back(std::move(violation));
}

void ViolationLog::Clear() {
  count_ = 0;
  violations_.clear();
}

TimingChecker::TimingChecker(int pc, const Timing& timing, int refresh_postpone,
                             ViolationLog* log)
    : pc_(pc), timing_(timing), refresh_postpone_(refresh_postpone), log_(log) {
  for (History& history : last_) {
    history.bank.fill(kNever);
    history.group.fill(kNever);
    history.channel = kNever;
  }
  acts_.fill(kNever);
  bus_from_.fill(kNever);
  SetRefreshDeadline();

  const Timing& t = timing_;
  const int write_data = t.tCWL + kBurstCycles;  // WR to the end of its data
  AddRule(kAct, "tRC", kAct, kBank, t.tRC);
  AddRule(kAct, "tRRD_L", kAct, kBankGroup, t.tRRD_L);
  AddRule(kAct, "tRRD_S", kAct, kChannel, t.tRRD_S);
  AddRule(kAct, "tRP", kPre, kBank, t.tRP);
  AddRule(kAct, "tRFC", kRef, kChannel, t.tRFC);
  AddRule(kAct, "tRFCSB", kRefSb, kBank, t.tRFCSB);
  AddRule(kAct, "tRRD_L", kRefSb, kBankGroup, t.tRRD_L);
  AddRule(kAct, "tRREFD", kRefSb, kChannel, t.tRREFD);
  AddRule(kPre, "tRAS", kAct, kBank, t.tRAS);
  AddRule(kPre, "tRTP", kRd, kBank, t.tRTP);
  AddRule(kPre, "tWR", kWr, kBank, write_data + t.tWR);
  AddRule(kRef, "tRP", kPre, kChannel, t.tRP);
  AddRule(kRef, "tRC", kAct, kChannel, t.tRC);
  AddRule(kRef, "tRFC", kRef, kChannel, t.tRFC);
  AddRule(kRef, "tRFCSB", kRefSb, kChannel, t.tRFCSB);
  AddRule(kRefSb, "tRC", kAct, kBank, t.tRC);
  // ACT takes two cycles, and times count from the second one (R in the source
  // of docs/spec/hbm.yaml).
  AddRule(kRefSb, "tRRD_L", kAct, kBankGroup, t.tRRD_L + 1);
  AddRule(kRefSb, "tRRD_S", kAct, kChannel, t.tRRD_S + 1);
  AddRule(kRefSb, "tRP", kPre, kBank, t.tRP);
  AddRule(kRefSb, "tRFC", kRef, kChannel, t.tRFC);
  AddRule(kRefSb, "tRFCSB", kRefSb, kBank, t.tRFCSB);
  AddRule(kRefSb, "tRREFD", kRefSb, kChannel, t.tRREFD);
  // A bank that RDA or WRA closes. If tRAS is the longer wait, tRC covers it.
  for (Kind second : {kAct, kRef, kRefSb}) {
    const Scope scope = second == kRef ? kChannel : kBank;
    AddRule(second, kRuleRda, kRda, scope, t.tRTP + t.tRP);
    AddRule(second, kRuleWra, kWra, scope, write_data + t.tWR + t.tRP);
  }
  AddRule(kRd, "tRCDRD", kAct, kBank, t.tRCDRD);
  AddRule(kRd, "tCCD_L", kRd, kBankGroup, t.tCCD_L);
  AddRule(kRd, "tCCD_S", kRd, kChannel, t.tCCD_S);
  AddRule(kRd, "tWTR_L", kWr, kBankGroup, write_data + t.tWTR_L);
  AddRule(kRd, "tWTR_S", kWr, kChannel, write_data + t.tWTR_S);
  AddRule(kWr, "tRCDWR", kAct, kBank, t.tRCDWR);
  AddRule(kWr, "tCCD_L", kWr, kBankGroup, t.tCCD_L);
  AddRule(kWr, "tCCD_S", kWr, kChannel, t.tCCD_S);
  AddRule(kWr, "tRTW", kRd, kChannel, t.tRTW);
}

void TimingChecker::AddRule(Kind second, std::string_view name, Kind first,
                            Scope scope, int cycles) {
  rules_[second].push_back({name, first, scope, cycles});
}

void TimingChecker::Report(std::string_view rule, int bank, int64_t first,
                           int64_t second, std::string_view detail) {
  std::string place =
      bank < 0 ? "all banks"
               : absl::StrFormat("bank group %d bank %d", bank / kBanksPerGroup,
                                 bank % kBanksPerGroup);
  log_->Add({rule, pc_, bank, first, second,
             absl::StrFormat("HBM pseudo-channel %d, %s, cycle %d: %s: %s", pc_,
                             place, second, rule, detail)});
}

bool TimingChecker::Check(int64_t cycle, Kind second, int bank) {
  bool violated = false;
  for (const Rule& rule : rules_[second]) {
    const History& history = last_[rule.first];
    int64_t first = rule.scope == kBank ? history.bank[bank]
                    : rule.scope == kBankGroup
                        ? history.group[bank / kBanksPerGroup]
                        : history.channel;
    if (cycle - first >= rule.cycles) continue;
    violated = true;
    Report(rule.name, bank, first, cycle,
           absl::StrFormat("%s %d cycles after %s (cycle %d), at least %d",
                           kKindNames[second], cycle - first,
                           kKindNames[rule.first], first, rule.cycles));
  }
  return violated;
}

void TimingChecker::Record(int64_t cycle, Kind kind, int bank) {
  History& history = last_[kind];
  history.bank[bank] = cycle;
  history.group[bank / kBanksPerGroup] = cycle;
  history.channel = cycle;
}

// Closing a closed bank has no effect.
void TimingChecker::Precharge(int64_t cycle, int bank) {
  if (!open_[bank]) return;
  Check(cycle, kPre, bank);
  Record(cycle, kPre, bank);
  open_[bank] = false;
}

void TimingChecker::Row(int64_t cycle, RowCmd command, int bank, uint32_t row) {
  switch (command) {
    case RowCmd::kNop:
      return;
    case RowCmd::kAct: {
      if (row >= static_cast<uint32_t>(kRows)) {
        Report(kRuleEncoding, bank, -1, cycle,
               absl::StrFormat("ACT of row %d of %d", row, kRows));
      }
      if (open_[bank]) {
        Report(kRuleActOpen, bank, last_[kAct].bank[bank], cycle,
               absl::StrFormat("opened in cycle %d", last_[kAct].bank[bank]));
      }
      Check(cycle, kAct, bank);
      int64_t fourth = acts_[act_index_];
      if (cycle - fourth < timing_.tFAW) {
        Report("tFAW", bank, fourth, cycle,
               absl::StrFormat(
                   "fifth ACT in %d cycles (first in cycle %d), at least %d",
                   cycle - fourth, fourth, timing_.tFAW));
      }
      acts_[act_index_] = cycle;
      act_index_ = (act_index_ + 1) % 4;
      Record(cycle, kAct, bank);
      open_[bank] = true;
      return;
    }
    case RowCmd::kPre:
      Precharge(cycle, bank);
      return;
    case RowCmd::kPrea:
      for (int b = 0; b < kBanks; ++b) Precharge(cycle, b);
      return;
    case RowCmd::kRef: {
      for (int b = 0; b < kBanks; ++b) {
        if (open_[b]) {
          Report(kRuleRefOpen, b, last_[kAct].bank[b], cycle,
                 absl::StrFormat("opened in cycle %d", last_[kAct].bank[b]));
        }
      }
      Check(cycle, kRef, 0);
      Record(cycle, kRef, 0);
      for (int b = 0; b < kBanks; ++b) RefreshBank(cycle, b);
      SetRefreshDeadline();
      return;
    }
    case RowCmd::kRefsb:
      if (open_[bank]) {
        Report(kRuleRefOpen, bank, last_[kAct].bank[bank], cycle,
               absl::StrFormat("opened in cycle %d", last_[kAct].bank[bank]));
      }
      Check(cycle, kRefSb, bank);
      Record(cycle, kRefSb, bank);
      RefreshBank(cycle, bank);
      SetRefreshDeadline();
      return;
  }
  Report(kRuleEncoding, bank, -1, cycle,
         absl::StrFormat("row command %d", static_cast<int>(command)));
}

void TimingChecker::Column(int64_t cycle, ColCmd command, int bank,
                           uint32_t col) {
  if (command == ColCmd::kNop) return;
  if (command > ColCmd::kWra) {
    Report(kRuleEncoding, bank, -1, cycle,
           absl::StrFormat("column command %d", static_cast<int>(command)));
    return;
  }
  if (col >= static_cast<uint32_t>(kCols)) {
    Report(kRuleEncoding, bank, -1, cycle,
           absl::StrFormat("column %d of %d", col, kCols));
  }
  const bool read = command == ColCmd::kRd || command == ColCmd::kRda;
  const Kind kind = read ? kRd : kWr;
  bool violated = false;
  if (!open_[bank]) {
    violated = true;
    Report(kRuleClosed, bank, last_[kPre].bank[bank], cycle,
           absl::StrFormat("%s", kKindNames[kind]));
  }
  violated |= Check(cycle, kind, bank);
  DataBus(cycle, kind, bank, violated);
  Record(cycle, kind, bank);
  if (command == ColCmd::kRda || command == ColCmd::kWra) {
    Record(cycle, read ? kRda : kWra, bank);
    open_[bank] = false;
  }
}

// Bursts must not overlap on the data bus. If a rule of the table covers the
// case, that rule is reported.
void TimingChecker::DataBus(int64_t cycle, Kind kind, int bank,
                            bool explained) {
  int64_t from = cycle + (kind == kRd ? timing_.tCL : timing_.tCWL);
  for (int other = 0; other < 2 && !explained; ++other) {
    if (std::abs(from - bus_from_[other]) < kBurstCycles) {
      int64_t first = last_[other == 0 ? kRd : kWr].channel;
      Report(kRuleDataBus, bank, first, cycle,
             absl::StrFormat("data of %s and of %s (cycle %d) overlap",
                             kKindNames[kind],
                             kKindNames[other == 0 ? kRd : kWr], first));
    }
  }
  bus_from_[kind == kRd ? 0 : 1] = from;
}

// Refreshes beyond the allowed number in advance do not count.
void TimingChecker::RefreshBank(int64_t cycle, int bank) {
  const int64_t most = cycle / timing_.tREFI + 1 + refresh_postpone_;
  refreshes_[bank] = std::min(refreshes_[bank] + 1, most);
}

void TimingChecker::SetRefreshDeadline() {
  const int64_t least = *std::min_element(refreshes_.begin(), refreshes_.end());
  refresh_deadline_ = (least + 1 + refresh_postpone_) * timing_.tREFI;
}

// A report counts the missing refreshes as done, so that one lapse is reported
// once per interval.
void TimingChecker::RefreshOverdue(int64_t cycle) {
  const int64_t least = *std::min_element(refreshes_.begin(), refreshes_.end());
  int late = 0, first = 0;
  for (int b = kBanks - 1; b >= 0; --b) {
    if (refreshes_[b] > least) continue;
    first = b;
    ++late;
    ++refreshes_[b];
  }
  const int64_t before =
      std::max(last_[kRef].bank[0], last_[kRefSb].bank[first]);
  Report("tREFI", late == kBanks ? -1 : first, before == kNever ? -1 : before,
         cycle,
         absl::StrFormat("%d refreshes of %d banks in %d cycles: more than %d "
                         "owed",
                         least, late, cycle, refresh_postpone_));
  SetRefreshDeadline();
}

void BusChecker::Row(int64_t cycle, int pc, RowCmd command) {
  Take(&row_, kRuleRowBus, cycle, pc, command == RowCmd::kAct ? 2 : 1);
}

void BusChecker::Column(int64_t cycle, int pc) {
  Take(&column_, kRuleColumnBus, cycle, pc, 1);
}

void BusChecker::Take(Bus* bus, std::string_view rule, int64_t cycle, int pc,
                      int cycles) {
  if (cycle < bus->free) {
    log_->Add({rule, pc, -1, bus->from, cycle,
               absl::StrFormat("HBM channel %d, cycle %d: %s: commands of "
                               "pseudo-channels %d (cycle %d) and %d",
                               channel_, cycle, rule, bus->pc, bus->from, pc)});
  }
  *bus = {cycle, cycle + cycles, pc};
}

}  // namespace systole::hbm
