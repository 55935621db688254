// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/hbm_model/trace.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace systole::hbm {
namespace {

// Ramulator's names of the commands, by code.
constexpr std::array<const char*, 6> kRowNames = {"",     "ACT",   "PRE",
                                                  "PREA", "REFab", "REFsb"};
constexpr std::array<const char*, 5> kColNames = {"", "RD", "WR", "RDA", "WRA"};
constexpr int kFields = 8;

absl::Status FileError(const std::string& path, const char* what) {
  return absl::UnavailableError(
      absl::StrFormat("%s: cannot %s: %s", path, what, std::strerror(errno)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceWriter>> TraceWriter::Create(
    const std::string& prefix, int pcs) {
  std::unique_ptr<TraceWriter> trace(new TraceWriter(prefix, pcs));
  trace->commands_ = std::fopen((prefix + ".cmd").c_str(), "w");
  if (trace->commands_ == nullptr) return FileError(prefix + ".cmd", "open");
  trace->requests_ = std::fopen((prefix + ".trace").c_str(), "w");
  if (trace->requests_ == nullptr) return FileError(prefix + ".trace", "open");
  return trace;
}

TraceWriter::~TraceWriter() { Close().IgnoreError(); }

void TraceWriter::Row(int64_t cycle, int pc, RowCmd command, int bank,
                      uint32_t row) {
  const auto code = static_cast<size_t>(command);
  if (code == 0 || code >= kRowNames.size()) return;
  const bool all = command == RowCmd::kPrea || command == RowCmd::kRef;
  std::fprintf(commands_, "%lld, %s, %d, %d, %d, %d, %lld, -1\n",
               static_cast<long long>(cycle), kRowNames[code], pc % channels_,
               pc / channels_, all ? -1 : bank / kBanksPerGroup,
               all ? -1 : bank % kBanksPerGroup,
               command == RowCmd::kAct ? static_cast<long long>(row) : -1LL);
}

void TraceWriter::Column(int64_t cycle, int pc, ColCmd command, int bank,
                         uint32_t row, uint32_t col, uint64_t address) {
  const auto code = static_cast<size_t>(command);
  if (code == 0 || code >= kColNames.size()) return;
  std::fprintf(commands_, "%lld, %s, %d, %d, %d, %d, %u, %u\n",
               static_cast<long long>(cycle), kColNames[code], pc % channels_,
               pc / channels_, bank / kBanksPerGroup, bank % kBanksPerGroup,
               row, col);
  const bool read = command == ColCmd::kRd || command == ColCmd::kRda;
  std::fprintf(requests_, "0x%llX %s %lld\n",
               static_cast<unsigned long long>(address),
               read ? "READ" : "WRITE", static_cast<long long>(cycle));
}

absl::Status TraceWriter::Close() {
  absl::Status status;
  for (auto [file, suffix] :
       {std::pair{&commands_, ".cmd"}, std::pair{&requests_, ".trace"}}) {
    if (*file == nullptr) continue;
    const bool failed = std::ferror(*file) != 0;
    if ((std::fclose(*file) != 0 || failed) && status.ok())
      status = FileError(prefix_ + suffix, "write");
    *file = nullptr;
  }
  return status;
}

absl::StatusOr<TraceVerdict> CheckCommandTrace(const std::string& path,
                                               const Timing& timing) {
  std::ifstream in(path);
  if (!in) return FileError(path, "open");
  TraceVerdict verdict;
  std::map<int64_t, TimingChecker> checkers;
  std::map<int64_t, BusChecker> buses;
  std::map<int64_t, int64_t> last;  // last cycle of each channel
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const auto bad = [&](const std::string& what) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s:%d: %s", path, number, what));
    };
    const std::vector<std::string> fields =
        absl::StrSplit(line, absl::ByAnyChar(", "), absl::SkipEmpty());
    if (fields.empty()) continue;
    if (fields.size() != kFields) {
      return bad(absl::StrFormat("%d fields, not %d", fields.size(), kFields));
    }
    std::array<int64_t, kFields> value{};
    for (int i = 0; i < kFields; ++i) {
      if (i != 1 && !absl::SimpleAtoi(fields[i], &value[i]))
        return bad(absl::StrFormat("'%s' is not a number", fields[i]));
    }
    size_t row_code = 1, col_code = 1;
    while (row_code < kRowNames.size() && fields[1] != kRowNames[row_code])
      ++row_code;
    while (col_code < kColNames.size() && fields[1] != kColNames[col_code])
      ++col_code;
    const bool is_row = row_code < kRowNames.size();
    if (!is_row && col_code == kColNames.size())
      return bad(absl::StrFormat("no command '%s'", fields[1]));
    const auto [cycle, command, channel, pseudo, group, bank, row, col] = value;
    const bool all = fields[1] == "PREA" || fields[1] == "REFab";
    if (cycle < 0 || channel < 0 || pseudo < 0 || pseudo > 1 ||
        (!all && (group < 0 || group >= kBankGroups || bank < 0 ||
                  bank >= kBanksPerGroup))) {
      return bad("no such place");
    }
    const int64_t pc = channel * 2 + pseudo;
    auto it = checkers
                  .try_emplace(pc, static_cast<int>(pc), timing,
                               kRefreshPostpone, &verdict.log)
                  .first;
    if (cycle < last[channel]) return bad("cycles go back");
    last[channel] = cycle;
    BusChecker& bus =
        buses.try_emplace(channel, static_cast<int>(channel), &verdict.log)
            .first->second;
    ++verdict.commands;
    const int place = all ? 0 : static_cast<int>(group * kBanksPerGroup + bank);
    it->second.Refresh(cycle);
    if (is_row) {
      bus.Row(cycle, static_cast<int>(pc), static_cast<RowCmd>(row_code));
      it->second.Row(cycle, static_cast<RowCmd>(row_code), place,
                     row < 0 ? 0 : static_cast<uint32_t>(row));
    } else {
      bus.Column(cycle, static_cast<int>(pc));
      it->second.Column(cycle, static_cast<ColCmd>(col_code), place,
                        static_cast<uint32_t>(col));
    }
  }
  if (in.bad()) return FileError(path, "read");
  verdict.pcs = static_cast<int>(checkers.size());
  return verdict;
}

}  // namespace systole::hbm
