// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/files/read_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

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
  std::string bytes;
  // A file tells its size, what is no file is read to its end.
  constexpr uintmax_t kMost = 1 << 30;
  const auto size = std::filesystem::file_size(path, error);
  if (!error) bytes.reserve(std::min<uintmax_t>(size, kMost) + 1);
  for (char part[1 << 16]; file.read(part, sizeof part), file.gcount() > 0;)
    bytes.append(part, static_cast<size_t>(file.gcount()));
  if (file.bad())
    return absl::UnavailableError(absl::StrCat(path, ": cannot be read"));
  return bytes;
}

}  // namespace systole
