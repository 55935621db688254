// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "verif/tb/core_model.h"

namespace systole::tb {
namespace {

std::map<std::pair<std::string, bool>, CoreFactory>& Registry() {
  static auto* registry =
      new std::map<std::pair<std::string, bool>, CoreFactory>;
  return *registry;
}

}  // namespace

bool RegisterCore(const char* preset, bool checked, CoreFactory factory) {
  return Registry().emplace(std::make_pair(preset, checked), factory).second;
}

absl::StatusOr<std::unique_ptr<CoreModel>> CreateCoreModel(
    const CoreOptions& options, MemoryModel* memory) {
  auto found = Registry().find({options.preset, options.checked});
  if (found == Registry().end()) {
    std::string known;
    for (const auto& [key, factory] : Registry()) {
      absl::StrAppend(&known, known.empty() ? "" : ", ", key.first,
                      key.second ? " (checked)" : "");
    }
    return absl::NotFoundError(
        absl::StrCat("no RTL model of preset '", options.preset, "'",
                     options.checked ? " (checked)" : "",
                     " in this program; it has: ", known));
  }
  return found->second(options, memory);
}

}  // namespace systole::tb
