// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Tables for people and records for programs.
#ifndef HOST_TOOLS_REPORT_H_
#define HOST_TOOLS_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "host/files/write_file.h"
#include "nlohmann/json.hpp"
#include "systole/device.h"

namespace systole::tools {

// One line of build/reports/*.json; what does not apply is null.
struct Record {
  std::string name;
  std::string section;
  std::string preset;
  std::optional<int64_t> cycles;
  std::optional<int64_t> macs;
  std::optional<int64_t> peak_macs_per_cycle;
  std::optional<double> utilisation;        // macs / (cycles x peak)
  std::optional<double> ideal_utilisation;  // the same for the ideal cycles of
                                            // the shape on that array
  std::optional<uint64_t> hbm_read_bytes, hbm_write_bytes;
  std::optional<bool> bit_exact;
  std::optional<double> host_cpu_seconds;
  nlohmann::ordered_json more =
      nlohmann::ordered_json::object();  // fields of the section
};

nlohmann::ordered_json ToJson(const std::vector<Record>& records);

// To standard output, indented by two.
void PrintJson(const nlohmann::ordered_json& json);

// Creates the folder; writes beside the file and renames. Errors name the file.
absl::Status WriteJson(const std::string& path,
                       const nlohmann::ordered_json& json);
// The same, as one of several files.
absl::Status AddJson(const std::string& path,
                     const nlohmann::ordered_json& json, FileSet& files);

// Columns as wide as their widest cell; the first is aligned left, the others
// right.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void Add(std::vector<std::string> row);  // cells become printable
  std::string ToString() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string Thousands(int64_t value);  // 1,234,567
// A line for people, if there is something to tell.
void PrintEcc(const EccCounts& ecc);
std::string Percent(double fraction);  // 97.3 %
// "NaN 0 and infinities 2 among the array's sums, 0 and 1 among what the vector
// unit stored": what the bf16 cores count (docs/host.md).
std::string SpecialValues(const RunStats& stats);
std::string YesNo(std::optional<bool> value);  // yes, NO, -

}  // namespace systole::tools

#endif  // HOST_TOOLS_REPORT_H_
