// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include <map>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "verif/tb/core_model.h"

namespace systole::tb {
namespace {

// By engine, preset and whether checked.
using Registered =
    std::map<std::tuple<std::string, std::string, bool>, CoreFactory>;

Registered& Registry() {
  static auto* registry = new Registered;
  return *registry;
}

std::string Describe(const std::string& engine, const std::string& preset,
                     bool checked) {
  return absl::StrCat(preset, checked ? " (checked)" : "",
                      engine == "verilator" ? "" : " in ",
                      engine == "verilator" ? "" : engine);
}

}  // namespace

bool RegisterCore(const char* engine, const char* preset, bool checked,
                  CoreFactory factory) {
  return Registry()
      .emplace(std::make_tuple(engine, preset, checked), factory)
      .second;
}

absl::StatusOr<std::unique_ptr<CoreModel>> CreateCoreModel(
    const CoreOptions& options, MemoryModel* memory) {
  auto found =
      Registry().find({options.engine, options.preset, options.checked});
  if (found == Registry().end()) {
    // A preset may have the checked build alone, which runs everything too.
    found = Registry().find({options.engine, options.preset, true});
  }
  if (found == Registry().end()) {
    std::string known;
    for (const auto& [key, factory] : Registry()) {
      absl::StrAppend(&known, known.empty() ? "" : ", ",
                      std::apply(Describe, key));
    }
    return absl::NotFoundError(
        absl::StrCat("no RTL model of preset '", options.preset, "'",
                     options.checked ? " (checked)" : "",
                     options.engine == "verilator" ? "" : " in ",
                     options.engine == "verilator" ? "" : options.engine,
                     " in this program; it has: ", known));
  }
  return found->second(options, memory);
}

}  // namespace systole::tb
