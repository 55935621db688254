// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/capi/models.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace systole::capi {
namespace {

namespace fs = std::filesystem;

// The folder with this library's models: beside it, or in lib/systole; it need
// not exist.
fs::path OwnFolder() {
  Dl_info self;
  std::error_code error;
  if (dladdr(reinterpret_cast<void*>(&OwnFolder), &self) == 0) return {};
  const fs::path library = fs::canonical(self.dli_fname, error);
  if (error) return {};
  const fs::path package = library.parent_path() / "models";
  if (fs::is_directory(package, error)) return package;  // of Python
  return library.parent_path() / "systole";
}

std::vector<std::string> PresetsIn(const fs::path& folder) {
  std::vector<std::string> presets;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename().string();
    absl::string_view name = file;
    if (!absl::ConsumePrefix(&name, "model_") ||
        !absl::ConsumeSuffix(&name, ".so"))
      continue;
    absl::ConsumeSuffix(&name, "_checked");
    presets.emplace_back(name);
  }
  std::sort(presets.begin(), presets.end());
  presets.erase(std::unique(presets.begin(), presets.end()), presets.end());
  return presets;
}

}  // namespace

absl::Status WhereModelsAre(const absl::Status& status,
                            const std::string& backend,
                            const std::string& preset) {
  if (backend != "rtl" || !absl::IsNotFound(status)) return status;
  const char* named = std::getenv("SYSTOLE_MODELS");
  const bool chosen = named != nullptr && *named != '\0';
  const fs::path folder = chosen ? fs::path(named) : OwnFolder();
  const std::vector<std::string> presets = PresetsIn(folder);
  std::error_code error;
  // A build folder is a source tree's.
  const fs::path own = OwnFolder();
  const bool built =
      fs::exists(own.parent_path().parent_path() / "CMakeCache.txt", error);
  return absl::NotFoundError(absl::StrCat(
      "no RTL model of preset '", preset, "' in ", folder.string(),
      chosen ? " (SYSTOLE_MODELS)" : "", ", which has ",
      presets.empty() ? "none" : absl::StrJoin(presets, ", "), "; ",
      built ? absl::StrCat("`make model PRESET=", preset, "` builds it")
            : "it is built from the source tree",
      chosen ? "" : ", and SYSTOLE_MODELS names another folder"));
}

}  // namespace systole::capi
