// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "host/profile/embedded.h"
#include "host/profile/profile.h"

namespace systole::profile {
namespace {

std::string Gzip(const std::string& text) {
  z_stream stream{};
  constexpr int kGzip = 16, kMemory = 8;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzip,
                   kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    return "";
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in =
      reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // only read
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

std::string EmbeddedText(const std::string& name) {
  for (const Text& text : EmbeddedTexts()) {
    if (text.name == name) return text.text;
  }
  return "";
}

absl::Status CannotWrite(const std::string& path, int error) {
  return absl::UnavailableError(
      absl::StrCat(path, ": cannot be written: ", std::strerror(error)));
}

// 0, or an errno.
int WriteThrough(const std::string& bytes, const std::string& path, int flags) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
  if (file < 0) return errno;
  int error = 0;
  for (size_t done = 0; done < bytes.size() && error == 0;) {
    const ssize_t n = write(file, bytes.data() + done, bytes.size() - done);
    if (n >= 0) {
      done += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

std::string PageOf(const Profile& profile) {
  std::string scripts;
  for (const char* name : {"data.js", "timeline.js", "views.js", "main.js"})
    absl::StrAppend(&scripts, EmbeddedText(name));
  return absl::StrReplaceAll(
      EmbeddedText("page.html"),
      {{"@style@", EmbeddedText("style.css")},
       {"@scripts@", scripts},
       {"@data@", absl::Base64Escape(Gzip(DataOf(profile).dump(
                      -1, ' ', false,
                      nlohmann::ordered_json::error_handler_t::replace)))}});
}

absl::Status TryFile(const std::string& path) {
  struct stat state;
  if (stat(path.c_str(), &state) == 0) {
    if (S_ISDIR(state.st_mode)) return CannotWrite(path, EISDIR);
    return access(path.c_str(), W_OK) == 0 ? absl::OkStatus()
                                           : CannotWrite(path, errno);
  }
  const std::string temporary = path + ".tmp";
  const int error = WriteThrough("", temporary, O_CREAT | O_TRUNC);
  unlink(temporary.c_str());
  return error == 0 ? absl::OkStatus() : CannotWrite(path, error);
}

absl::Status WriteFile(const std::string& bytes, const std::string& path) {
  struct stat state;
  if (lstat(path.c_str(), &state) == 0 && !S_ISREG(state.st_mode)) {
    const int error =
        S_ISDIR(state.st_mode) ? EISDIR : WriteThrough(bytes, path, O_TRUNC);
    return error == 0 ? absl::OkStatus() : CannotWrite(path, error);
  }
  const std::string temporary = path + ".tmp";
  int error = WriteThrough(bytes, temporary, O_CREAT | O_TRUNC);
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0)
    error = errno;
  if (error == 0) return absl::OkStatus();
  unlink(temporary.c_str());
  return CannotWrite(path, error);
}

}  // namespace systole::profile
