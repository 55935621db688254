// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/tb/waveform.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace systole::tb {
namespace {

namespace fs = std::filesystem;

absl::Status Refused(const std::string& file, const std::string& cause) {
  return absl::UnavailableError(
      absl::StrCat(file, ": cannot write the waveform: ", cause));
}

}  // namespace

absl::StatusOr<WaveformPlace> WaveformPlace::Reserve(const std::string& file) {
  if (file.empty()) return Refused("''", "no file is named");
  std::error_code error;
  fs::path place = file;
  const fs::file_status status = fs::status(place, error);
  if (fs::is_directory(status)) return Refused(file, "it is a folder");
  if (fs::exists(status)) {
    if (!fs::is_regular_file(status))
      return Refused(file, "it is a device or a pipe, no plain file");
    place = fs::canonical(place, error);
    if (error) return Refused(file, error.message());
    if (access(place.c_str(), W_OK) != 0)
      return Refused(file, std::strerror(errno));
  } else if (fs::is_symlink(fs::symlink_status(place, error))) {
    return Refused(file, "it is a link to nothing");
  }
  const std::string beside = absl::StrCat(place.string(), ".", getpid());
  const int fd =
      open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return Refused(file, std::strerror(errno));
  close(fd);
  return WaveformPlace(place.string(), beside);
}

WaveformPlace::~WaveformPlace() {
  if (!beside_.empty()) unlink(beside_.c_str());
}

absl::Status WaveformPlace::Commit() {
  if (std::rename(beside_.c_str(), file_.c_str()) != 0)
    return Refused(file_, std::strerror(errno));
  beside_.clear();
  return absl::OkStatus();
}

}  // namespace systole::tb
