// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "verif/tb/core_model.h"
#include "verif/tb/core_module.h"

namespace systole::tb {
namespace {

// Key: engine, preset, checked.
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

CoreFactory FindCore(const std::string& engine, const std::string& preset,
                     bool checked) {
  const auto found = Registry().find({engine, preset, checked});
  return found == Registry().end() ? nullptr : found->second;
}

absl::StatusOr<std::unique_ptr<CoreModel>> CreateCoreModel(
    const CoreOptions& options, MemoryModel* memory) {
  CoreFactory factory =
      FindCore(options.engine, options.preset, options.checked);
  // A preset may have only a checked build, which can run everything, too.
  if (factory == nullptr)
    factory = FindCore(options.engine, options.preset, true);
  std::string where;  // the folders that were searched
  for (const bool checked : {options.checked, true}) {
    if (factory != nullptr || options.engine != "verilator") break;
    auto loaded = LoadCore(options.preset, checked);
    if (loaded.ok()) {
      factory = *loaded;
    } else if (!absl::IsNotFound(loaded.status())) {
      return loaded.status();
    } else {
      where = std::string(loaded.status().message());
    }
  }
  if (factory != nullptr) return factory(options, memory);

  const std::string what =
      absl::StrCat("no RTL model of ",
                   Describe(options.engine, options.preset, options.checked));
  if (!where.empty())
    return absl::NotFoundError(absl::StrCat(what, " ", where));
  std::vector<std::string> known;
  for (const auto& [key, unused] : Registry())
    known.push_back(std::apply(Describe, key));
  return absl::NotFoundError(
      absl::StrCat(what, "; there ", known.size() == 1 ? "is " : "are ",
                   known.empty() ? "none" : absl::StrJoin(known, ", ")));
}

}  // namespace systole::tb
