// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/files/refusals.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/files/printable.h"

namespace systole {
namespace {

constexpr size_t kMostReasons = 8;  // in one line
constexpr size_t kShortList = 10;

// In the order of their first occurrence, with the number of each.
struct Counts {
  std::vector<std::pair<std::string, int>> entries;

  void Add(const std::string& text) {
    const auto found =
        std::find_if(entries.begin(), entries.end(),
                     [&](const auto& entry) { return entry.first == text; });
    if (found != entries.end()) {
      ++found->second;
    } else {
      entries.emplace_back(text, 1);
    }
  }

  std::string Text() const {
    return absl::StrJoin(entries, ", ",
                         [](std::string* out, const auto& entry) {
                           absl::StrAppend(out, Printable(entry.first));
                           if (entry.second > 1)
                             absl::StrAppend(out, " (", entry.second, ")");
                         });
  }
};

}  // namespace

std::string ReasonsText(const std::vector<Refusal>& refusals) {
  std::vector<std::pair<std::string, Counts>> reasons;
  for (const Refusal& r : refusals) {
    auto found =
        std::find_if(reasons.begin(), reasons.end(),
                     [&](const auto& entry) { return entry.first == r.why; });
    if (found == reasons.end())
      found = reasons.insert(reasons.end(), {r.why, Counts()});
    found->second.Add(r.what);
  }
  std::string text;
  for (size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i) {
    absl::StrAppend(&text, i > 0 ? "; " : "", reasons[i].second.Text(), ": ",
                    Printable(reasons[i].first));
  }
  if (reasons.size() > kMostReasons)
    absl::StrAppend(&text, "; and ",
                    Counted(static_cast<int64_t>(reasons.size() - kMostReasons),
                            "more reason"));
  return text;
}

std::string RefusalText(const std::vector<Refusal>& refusals,
                        std::string_view noun) {
  std::vector<std::string> list;
  for (const Refusal& r : refusals)
    list.push_back(absl::StrCat(r.where, ": ", r.why));
  if (list.size() == 1) return Printable(list[0]);
  return absl::StrCat(Counted(static_cast<int64_t>(list.size()), noun),
                      " stand in the way: ", ReasonsText(refusals),
                      PrintableList(list));
}

std::string WithoutList(const std::string& text) {
  const size_t end = text.find("\n  ");
  if (end == std::string::npos || end == 0) return text;
  const auto lines =
      static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  const bool needed = text[end - 1] == ':';
  if (needed && lines <= kShortList) return text;
  const size_t next = text.find('\n', end + 1);
  const std::string first = text.substr(end + 3, next - end - 3);
  return absl::StrCat(
      text.substr(0, end),
      needed ? absl::StrCat(" ", first, "; and ", lines - 1, " more") : "",
      " (--verbose lists them)");
}

}  // namespace systole
