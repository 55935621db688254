// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/files/data_file.h"

#include <filesystem>
#include <system_error>

namespace systole {

namespace fs = std::filesystem;

std::string DataFile(const std::string& in_source,
                     const std::string& in_share) {
  std::error_code error;
  if (fs::exists(in_source, error)) return in_source;
  const fs::path program = fs::canonical("/proc/self/exe", error);
  if (error) return in_source;
  // Of an installation, or of the project that a build folder lies in.
  const fs::path top = program.parent_path().parent_path();
  for (const fs::path& file :
       {top / "share" / "systole" / in_share, top.parent_path() / in_source})
    if (fs::exists(file, error)) return file.string();
  return in_source;
}

std::string ResultPlace(const std::string& in_source,
                        const std::string& elsewhere) {
  std::error_code error;
  return fs::exists("tests/data/mnist", error) ? in_source : elsewhere;
}

}  // namespace systole
