// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/files/read_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace systole {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::error_code error;
  // A stream opens a folder, and throws when it is read.
  if (std::filesystem::is_directory(path, error))
    return absl::UnavailableError(absl::StrCat(path, ": is a folder"));
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return absl::NotFoundError(
        absl::StrCat(path, ": cannot be opened: ", std::strerror(errno)));
  std::string bytes((std::istreambuf_iterator<char>(file)),
                    std::istreambuf_iterator<char>());
  if (file.bad())
    return absl::UnavailableError(absl::StrCat(path, ": cannot be read"));
  return bytes;
}

}  // namespace systole
