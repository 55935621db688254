// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/files/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace systole {
namespace {

// A pipe may end at any time; a device such as /dev/zero never does.
constexpr uint64_t kMostOfPipe = uint64_t{1} << 30;
constexpr uint64_t kMostOfDevice = uint64_t{1} << 26;

// Pipes that were read, by the names that they were opened under.
struct Pipes {
  std::mutex mutex;
  bool keep = false;
  std::map<std::string, std::string> bytes;
};
Pipes& AllPipes() {
  static auto& pipes = *new Pipes;
  return pipes;
}

// `take`: they are needed no more, unless all pipes are kept.
std::optional<std::string> Known(const std::string& path, bool take) {
  Pipes& pipes = AllPipes();
  const std::lock_guard<std::mutex> lock(pipes.mutex);
  const auto known = pipes.bytes.find(path);
  if (known == pipes.bytes.end()) return std::nullopt;
  if (!take || pipes.keep) return known->second;
  std::string bytes = std::move(known->second);
  pipes.bytes.erase(known);
  return bytes;
}

// `read`: the caller has them already.
void Keep(const std::string& path, const std::string& bytes, bool read) {
  Pipes& pipes = AllPipes();
  const std::lock_guard<std::mutex> lock(pipes.mutex);
  if (pipes.keep || !read) pipes.bytes[path] = bytes;
}

// Bytes that can be had without swapping.
uint64_t FreeMemory() {
  std::ifstream info("/proc/meminfo");
  std::string word;
  uint64_t kilobytes = 0;
  while (info >> word) {
    if (word == "MemAvailable:" && info >> kilobytes) return kilobytes << 10;
  }
  return std::numeric_limits<uint64_t>::max();
}

class Source {
 public:
  explicit Source(const std::string& path)
      : fd_(path == "-" ? STDIN_FILENO
                        : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)) {
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() {
    if (fd_ > STDIN_FILENO) close(fd_);
  }
  int fd() const { return fd_; }
  // -1: errno says why.
  ssize_t Read(char* to, size_t count) {
    for (;;) {
      const ssize_t n = read(fd_, to, count);
      if (n >= 0 || errno != EINTR) return n;
    }
  }

 private:
  int fd_;
};

absl::Status CannotRead(const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
}

absl::Status Opened(const std::string& path, const Source& source,
                    struct stat& state) {
  if (source.fd() < 0 || fstat(source.fd(), &state) != 0) {
    const int error = errno;
    const bool missing = error == ENOENT || error == ENOTDIR;
    return absl::Status(
        missing ? absl::StatusCode::kNotFound : absl::StatusCode::kUnavailable,
        absl::StrCat(path, ": cannot be opened: ", std::strerror(error)));
  }
  if (S_ISDIR(state.st_mode))
    return absl::UnavailableError(absl::StrCat(path, ": is a folder"));
  return absl::OkStatus();
}

// Standard input may have been read in part.
bool IsFile(const std::string& path, const struct stat& state) {
  return S_ISREG(state.st_mode) && path != "-";
}

absl::StatusOr<std::string> ReadAll(const std::string& path, Source& source,
                                    const struct stat& state) {
  const bool is_file = S_ISREG(state.st_mode);
  const uint64_t free = FreeMemory();
  const auto size = static_cast<uint64_t>(is_file ? state.st_size : 0);
  const uint64_t most =
      is_file ? free
              : std::min(free / 2,
                         S_ISCHR(state.st_mode) ? kMostOfDevice : kMostOfPipe);
  const auto too_large = [&](uint64_t bytes) {
    return absl::ResourceExhaustedError(
        is_file ? absl::StrCat(path, ": is too large: it has ", bytes,
                               " bytes, ", free, " bytes of memory are free")
                : absl::StrCat(path, ": does not end within ", most,
                               " bytes: give a file, or a pipe that ends"));
  };
  if (size > most) return too_large(size);
  std::string bytes;
  bytes.reserve(size);
  for (char part[1 << 16];;) {
    const ssize_t n = source.Read(part, sizeof part);
    if (n < 0) return CannotRead(path);
    if (n == 0) return bytes;
    bytes.append(part, static_cast<size_t>(n));
    if (bytes.size() > most) return too_large(bytes.size());
  }
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  if (auto known = Known(path, /*take=*/true)) return *std::move(known);
  Source source(path);
  struct stat state;
  if (absl::Status s = Opened(path, source, state); !s.ok()) return s;
  auto bytes = ReadAll(path, source, state);
  if (bytes.ok() && !IsFile(path, state)) Keep(path, *bytes, /*read=*/true);
  return bytes;
}

absl::StatusOr<std::string> ReadFirst(const std::string& path, size_t count) {
  if (const auto known = Known(path, /*take=*/false))
    return known->substr(0, count);
  Source source(path);
  struct stat state;
  if (absl::Status s = Opened(path, source, state); !s.ok()) return s;
  if (!IsFile(path, state)) {
    const auto bytes = ReadAll(path, source, state);
    if (!bytes.ok()) return bytes;
    Keep(path, *bytes, /*read=*/false);
    return bytes->substr(0, count);
  }
  std::string bytes(count, '\0');
  size_t done = 0;
  while (done < count) {
    const ssize_t n = source.Read(&bytes[done], count - done);
    if (n < 0) return CannotRead(path);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

void KeepPipes() {
  Pipes& pipes = AllPipes();
  const std::lock_guard<std::mutex> lock(pipes.mutex);
  pipes.keep = true;
}

}  // namespace systole
