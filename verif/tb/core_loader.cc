// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "verif/tb/core_module.h"

namespace systole::tb {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "model_", kChecked[] = "_checked", kSuffix[] = ".so";

// Model folders relative to the program or library that contains this code.
std::vector<fs::path> OwnFolders() {
  Dl_info self;
  std::error_code error;
  if (dladdr(reinterpret_cast<void*>(&OwnFolders), &self) == 0) return {};
  // The program's name may be relative, because its caller gave it.
  fs::path file = fs::canonical(self.dli_fname, error);
  if (error || !fs::is_regular_file(file, error))
    file = fs::canonical("/proc/self/exe", error);
  if (error) return {};
  const fs::path folder = file.parent_path();
  std::vector<fs::path> folders;
  for (const fs::path& place :
       {folder.parent_path() / "lib" / "systole", folder / "systole",
        folder / "models", folder.parent_path() / "systole" / "models",
        folder.parent_path() / SYSTOLE_LIBRARIES / "systole"}) {
    if (std::find(folders.begin(), folders.end(), place) == folders.end())
      folders.push_back(place);
  }
  return folders;
}

// "" if the variable is not set.
std::string NamedFolder() {
  const char* named = std::getenv("SYSTOLE_MODELS");
  return named == nullptr ? "" : named;
}

// The folders to search.
std::vector<fs::path> Folders() {
  const std::string named = NamedFolder();
  return named.empty() ? OwnFolders() : std::vector<fs::path>{named};
}

// Only a build folder has the source tree, with its Makefile, beside it.
bool IsInBuild() {
  std::error_code error;
  const std::vector<fs::path> folders = OwnFolders();
  return std::any_of(
      folders.begin(), folders.end(), [&](const fs::path& folder) {
        const fs::path place = fs::weakly_canonical(folder, error);
        return !error &&
               fs::exists(place.parent_path().parent_path() / "CMakeCache.txt",
                          error);
      });
}

// A hint such as "; `make model PRESET=nano` builds it".
std::string HowToBuild(const std::string& preset, const char* what) {
  return IsInBuild()
             ? absl::StrCat("; `make model PRESET=", preset, "` builds ", what)
             : absl::StrCat("; Systole's source tree builds and installs ",
                            what);
}

// Whether the file is as long as its header says. The linker writes the section
// table last. The loader maps a truncated file without an error, and a signal
// would end the program later.
bool IsWhole(const fs::path& file) {
  std::error_code error;
  const uint64_t size = fs::file_size(file, error);
  Elf64_Ehdr header;
  std::ifstream input(file, std::ios::binary);
  if (error || !input.read(reinterpret_cast<char*>(&header), sizeof(header)))
    return false;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  const uint64_t table = uint64_t{header.e_shnum} * header.e_shentsize;
  return header.e_shoff <= size && table <= size - header.e_shoff;
}

}  // namespace

absl::StatusOr<CoreFactory> LoadCore(const std::string& preset, bool checked) {
  const std::string name =
      absl::StrCat(kPrefix, preset, checked ? kChecked : "", kSuffix);
  std::string looked;
  for (const fs::path& folder : Folders()) {
    const fs::path file = folder / name;
    std::error_code error;
    if (!fs::exists(file, error)) {
      // The first folder is listed even if it is missing, because a model
      // belongs there.
      if (looked.empty() || fs::is_directory(folder, error))
        absl::StrAppend(&looked, looked.empty() ? "" : ", ", folder.string());
      continue;
    }
    if (!IsWhole(file)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "cannot load an RTL model: ", file.string(),
          " is no shared library or was cut short", HowToBuild(preset, "it")));
    }
    // It is never unloaded, because its models may still be in use.
    void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat("cannot load an RTL model: ", dlerror()));
    }
    const auto stamp =
        reinterpret_cast<const char* (*)()>(dlsym(module, "SystoleCoreStamp"));
    const auto factory = reinterpret_cast<CoreFactory (*)(const char*, bool)>(
        dlsym(module, "SystoleCoreFactory"));
    if (stamp == nullptr || factory == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat(file.string(), " is not an RTL model"));
    }
    if (std::string(stamp()) != kCoreStamp) {
      return absl::FailedPreconditionError(absl::StrCat(
          file.string(), " is of another state of the RTL than this program",
          HowToBuild(preset, "both")));
    }
    if (CoreFactory found = factory(preset.c_str(), checked)) return found;
    return absl::FailedPreconditionError(
        absl::StrCat(file.string(), " has no model of that name"));
  }
  const bool named = !NamedFolder().empty();
  const std::vector<std::string> found = CoresInFiles();
  return absl::NotFoundError(
      absl::StrCat("in ", looked, named ? " (SYSTOLE_MODELS)" : "", "; there ",
                   found.size() == 1 ? "is " : "are ",
                   found.empty() ? "none" : absl::StrJoin(found, ", "),
                   HowToBuild(preset, "it"),
                   named ? "" : "; SYSTOLE_MODELS names another folder"));
}

std::string FindProgram(const std::string& name) {
  // A folder that SYSTOLE_MODELS names may have models alone.
  std::vector<fs::path> folders = Folders();
  for (const fs::path& folder : OwnFolders()) folders.push_back(folder);
  for (const fs::path& folder : folders) {
    std::error_code error;
    const fs::path file = fs::absolute(folder / name, error);
    if (!error && fs::is_regular_file(file, error)) return file.string();
  }
  return "";
}

std::vector<std::string> CoresInFiles() {
  std::vector<std::string> found;
  for (const fs::path& folder : Folders()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string file = entry.path().filename().string();
      absl::string_view name = file;
      if (!absl::ConsumePrefix(&name, kPrefix) ||
          !absl::ConsumeSuffix(&name, kSuffix))
        continue;
      const bool checked = absl::ConsumeSuffix(&name, kChecked);
      found.push_back(absl::StrCat(name, checked ? " (checked)" : ""));
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace systole::tb
