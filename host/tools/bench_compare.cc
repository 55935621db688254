// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/files/printable.h"
#include "host/files/read_file.h"
#include "host/tools/bench.h"

namespace systole::tools {
namespace {

using Json = nlohmann::ordered_json;

// What repeats exactly.
constexpr std::array<const char*, 7> kCounts = {
    "cycles",          "macs",           "ideal_cycles",
    "expected_cycles", "hbm_read_bytes", "hbm_write_bytes",
    "descriptor_bytes"};

using Key = std::tuple<std::string, std::string, std::string, std::string>;
using Group = std::tuple<std::string, std::string, std::string>;

std::string Word(const Json& record, const char* field) {
  const auto found = record.find(field);
  return found != record.end() && found->is_string() ? found->get<std::string>()
                                                     : "";
}
Group GroupOf(const Json& record) {
  return {Word(record, "section"), Word(record, "preset"),
          Word(record, "model")};
}
Key KeyOf(const Json& record) {
  return std::tuple_cat(GroupOf(record), std::make_tuple(Word(record, "name")));
}
std::optional<int64_t> Count(const Json& record, const char* field) {
  const auto found = record.find(field);
  if (found == record.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int64_t>();
}

absl::StatusOr<std::map<Key, Json>> ReadRecords(const std::string& path) {
  const auto text = ReadFile(path);
  if (!text.ok()) return text.status();
  const Json list = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array())
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not a list of records of systole bench"));
  std::map<Key, Json> records;
  for (const Json& record : list) {
    if (!record.is_object() || Word(record, "name").empty())
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": a record without a name"));
    records[KeyOf(record)] = record;
  }
  return records;
}

}  // namespace

absl::Status CheckRecords(const std::string& path) {
  return ReadRecords(path).status();
}

absl::Status CompareRecords(const std::vector<Record>& records,
                            const std::string& path) {
  auto old = ReadRecords(path);
  if (!old.ok()) return old.status();
  Table table({"record", "preset", "count", "old", "now", "now / old"});
  std::vector<std::string> moved;
  std::set<Group> measured;
  size_t same = 0;
  for (const Json& now : ToJson(records)) {
    measured.insert(GroupOf(now));
    const auto before = old->find(KeyOf(now));
    const std::string name = Word(now, "name"), preset = Word(now, "preset");
    if (before == old->end()) {
      table.Add({name, preset, "all", "-", "new", "-"});
      continue;
    }
    for (const char* field : kCounts) {
      const auto a = Count(before->second, field), b = Count(now, field);
      if (!a) continue;  // not recorded
      if (a == b) {
        ++same;
        continue;
      }
      table.Add({name, preset, field, Thousands(*a), b ? Thousands(*b) : "-",
                 b && *a != 0
                     ? absl::StrFormat("%.4f", static_cast<double>(*b) /
                                                   static_cast<double>(*a))
                     : "-"});
      moved.push_back(absl::StrFormat("%s of %s on %s", field, name, preset));
    }
    old->erase(before);
  }
  for (const auto& [key, record] : *old) {
    if (measured.count(GroupOf(record)) == 0) continue;
    const std::string name = Word(record, "name"),
                      preset = Word(record, "preset");
    table.Add({name, preset, "all", "there", "-", "-"});
    moved.push_back(absl::StrFormat("%s on %s is not there", name, preset));
  }
  std::printf("compared with %s: %d counts are the same, %d moved\n\n",
              Printable(path).c_str(), static_cast<int>(same),
              static_cast<int>(moved.size()));
  if (!moved.empty()) std::printf("%s\n", table.ToString().c_str());
  if (moved.empty() && same == 0)
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": has no record of what was measured"));
  if (moved.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrFormat("%s: %d recorded counts moved, the first: %s", path,
                      moved.size(), moved[0]));
}

}  // namespace systole::tools
