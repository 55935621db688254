// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/report.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "host/files/printable.h"
#include "host/files/write_file.h"

namespace systole::tools {
namespace {

template <class T>
nlohmann::ordered_json OrNull(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value)
               : nlohmann::ordered_json(nullptr);
}

// Names may be any bytes, JSON is UTF-8.
std::string Text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

nlohmann::ordered_json ToJson(const std::vector<Record>& records) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Record& r : records) {
    nlohmann::ordered_json j;
    j["name"] = r.name;
    j["section"] = r.section;
    j["preset"] = r.preset;
    j["cycles"] = OrNull(r.cycles);
    j["macs"] = OrNull(r.macs);
    j["peak_macs_per_cycle"] = OrNull(r.peak_macs_per_cycle);
    j["utilisation"] = OrNull(r.utilisation);
    j["ideal_utilisation"] = OrNull(r.ideal_utilisation);
    j["hbm_read_bytes"] = OrNull(r.hbm_read_bytes);
    j["hbm_write_bytes"] = OrNull(r.hbm_write_bytes);
    j["bit_exact"] = OrNull(r.bit_exact);
    j["host_cpu_seconds"] = OrNull(r.host_cpu_seconds);
    for (const auto& [key, value] : r.more.items()) j[key] = value;
    list.push_back(std::move(j));
  }
  return list;
}

void PrintJson(const nlohmann::ordered_json& json) {
  std::printf("%s\n", Text(json).c_str());
}

absl::Status WriteJson(const std::string& path,
                       const nlohmann::ordered_json& json) {
  FileSet files;
  if (absl::Status s = AddJson(path, json, files); !s.ok()) return s;
  return files.Commit();
}

absl::Status AddJson(const std::string& path,
                     const nlohmann::ordered_json& json, FileSet& files) {
  if (absl::Status s = MakeFolderOf(path); !s.ok()) return s;
  return files.Add(Text(json) + "\n", path);
}

void Table::Add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = Printable(cell);
  rows_.push_back(std::move(row));
}

std::string Table::ToString() const {
  std::vector<size_t> width;
  for (const std::vector<std::string>& row : rows_) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (size_t c = 0; c < row.size(); ++c)
      width[c] = std::max(width[c], Columns(row[c]));
  }
  std::string text;
  for (size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (size_t c = 0; c < rows_[r].size(); ++c) {
      const std::string& cell = rows_[r][c];
      const std::string fill(width[c] - Columns(cell), ' ');
      line += (c == 0 ? cell + fill : fill + cell) + "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (r == 0)
      text += std::string(std::max<size_t>(Columns(line), 1), '-') + "\n";
  }
  return text;
}

std::string Thousands(int64_t value) {
  std::string digits = std::to_string(value < 0 ? -value : value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(at, ",");
  return value < 0 ? "-" + digits : digits;
}

std::string Percent(double fraction) {
  return absl::StrFormat("%.1f %%", 100 * fraction);
}

std::string SpecialValues(const RunStats& stats) {
  const auto count = [&](csr::Counter c) {
    return Thousands(static_cast<int64_t>(stats.counter(c)));
  };
  return absl::StrFormat(
      "NaN %s and infinities %s among the array's sums, %s and %s among what "
      "the vector unit stored",
      count(csr::Counter::kMxuNan), count(csr::Counter::kMxuInf),
      count(csr::Counter::kVectorNan), count(csr::Counter::kVectorInf));
}

void PrintEcc(const EccCounts& ecc) {
  if (const std::string text = ecc.Describe(); !text.empty())
    std::printf("memory:   %s\n", text.c_str());
}

std::string YesNo(std::optional<bool> value) {
  return !value ? "-" : *value ? "yes" : "NO";
}

}  // namespace systole::tools
