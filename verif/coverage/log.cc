// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/coverage/log.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "verif/coverage/gen/bins.h"

namespace systole::coverage {
namespace {

struct Counts {
  uint64_t cycles = 0;
  std::vector<uint64_t> hits;
};

class Log {
 public:
  Log() {
    if (const char* folder = std::getenv("SYSTOLE_COVERAGE_DIR"))
      folder_ = folder;
  }
  ~Log() {
    if (counts_.empty()) return;
    std::vector<std::string> cores;
    for (const auto& [key, counts] : counts_) {
      cores.push_back(absl::StrCat(
          "{\"preset\": \"", key.first, "\", \"checked\": ", int{key.second},
          ", \"cycles\": ", counts.cycles, ", \"hits\": [",
          absl::StrJoin(counts.hits, ","), "]}"));
    }
    // Writes to a temporary file and renames it, so a reader of the folder sees
    // only complete files. A process has one log for each model that it loaded
    // from a file.
    const auto& [preset, checked] = counts_.begin()->first;
    const std::string file =
        absl::StrCat(folder_, "/functional.", getpid(), ".", preset, ".",
                     int{checked}, ".json");
    const std::string part = file + ".part";
    std::FILE* out = std::fopen(part.c_str(), "w");
    bool written = out != nullptr;
    if (written) {
      written = std::fprintf(out, "{\"version\": \"%s\", \"cores\": [%s]}\n",
                             kVersion, absl::StrJoin(cores, ",\n").c_str()) > 0;
      written = std::fclose(out) == 0 && written;
    }
    if (!written || std::rename(part.c_str(), file.c_str()) != 0) {
      std::perror(file.c_str());
      std::_Exit(3);
    }
  }

  void Add(const std::string& preset, bool checked, uint64_t cycles,
           const std::vector<uint32_t>& hits) {
    if (folder_.empty()) return;
    Counts& counts = counts_[{preset, checked}];
    counts.cycles += cycles;
    counts.hits.resize(hits.size());
    for (size_t i = 0; i < hits.size(); ++i) counts.hits[i] += hits[i];
  }

 private:
  std::string folder_;
  std::map<std::pair<std::string, bool>, Counts> counts_;
};

}  // namespace

void Add(const std::string& preset, bool checked, uint64_t cycles,
         const std::vector<uint32_t>& hits) {
  static Log log;
  log.Add(preset, checked, cycles, hits);
}

}  // namespace systole::coverage
