// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/files/write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "host/files/write_parts.h"

namespace systole {
namespace {

using Parts = absl::Span<const std::string_view>;

absl::Status Failed(const std::string& path, const char* what, int error) {
  return absl::ErrnoToStatus(error, absl::StrCat(path, ": ", what));
}
absl::Status CannotWrite(const std::string& path, int error) {
  return error == EISDIR
             ? absl::UnavailableError(absl::StrCat(path, ": is a folder"))
             : Failed(path, "cannot be written", error);
}

// Where the bytes go.
struct Target {
  std::string path;       // behind all links
  bool is_there = false;  // and then:
  bool is_regular = true;
  mode_t mode = 0;
};

absl::StatusOr<Target> TargetOf(const std::string& path) {
  if (path.empty()) return absl::InvalidArgumentError("a file name is needed");
  if (path == "-") {
    return absl::InvalidArgumentError(
        "-: is no file name; /dev/stdout is standard output");
  }
  Target target;
  target.path = path;
  struct stat state;
  if (stat(path.c_str(), &state) == 0) {
    if (S_ISDIR(state.st_mode)) return CannotWrite(path, EISDIR);
    if (access(path.c_str(), W_OK) != 0) return CannotWrite(path, errno);
    target.is_there = true;
    target.is_regular = S_ISREG(state.st_mode);
    target.mode = state.st_mode & 07777;
  } else if (errno != ENOENT || path.back() == '/') {
    return CannotWrite(path, errno);
  }
  // A link to what is no file may not have a path (/dev/stdout).
  std::error_code error;
  while (target.is_regular &&
         std::filesystem::is_symlink(
             std::filesystem::symlink_status(target.path, error))) {
    const std::filesystem::path to =
        std::filesystem::read_symlink(target.path, error);
    if (error) return CannotWrite(path, error.value());
    // An absolute one replaces all before it.
    target.path = std::filesystem::path(target.path).parent_path() / to;
  }
  return target;
}

// Closes on all ways out.
class File {
 public:
  File(const std::string& path, int flags)
      : fd_(open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { Close(); }
  int fd() const { return fd_; }
  // 0, or errno.
  int Write(Parts parts) {
    for (std::string_view bytes : parts) {
      while (!bytes.empty()) {
        const ssize_t n = write(fd_, bytes.data(), bytes.size());
        if (n < 0 && errno != EINTR) return errno;
        if (n > 0) bytes.remove_prefix(n);
      }
    }
    return 0;
  }
  int Close() {
    const int fd = fd_;
    fd_ = -1;
    return fd < 0 || close(fd) == 0 ? 0 : errno;
  }

 private:
  int fd_;
};

// Beside the target, so that it can take its place; short, as a name that is
// just short enough for the system must be.
std::string TemporaryFor(const std::string& path) {
  static std::atomic<int> number{0};
  const std::filesystem::path folder =
      std::filesystem::path(path).parent_path();
  return folder / absl::StrCat(".systole.", getpid(), ".", number++, ".tmp");
}

// 0, or errno; then there is no temporary file.
int WriteTemporary(Parts parts, const Target& target,
                   const std::string& temporary) {
  int error = 0;
  {
    File file(temporary, O_CREAT | O_EXCL);
    if (file.fd() < 0) return errno;
    error = file.Write(parts);
    // A disk may be found to be full only now.
    if (error == 0 && fsync(file.fd()) != 0) error = errno;
    if (error == 0 && target.is_there && fchmod(file.fd(), target.mode) != 0)
      error = errno;
    if (const int closed = file.Close(); error == 0) error = closed;
  }
  if (error != 0) unlink(temporary.c_str());
  return error;
}

int Replace(Parts parts, const Target& target) {
  const std::string temporary = TemporaryFor(target.path);
  int error = WriteTemporary(parts, target, temporary);
  if (error == 0 && rename(temporary.c_str(), target.path.c_str()) != 0) {
    error = errno;
    unlink(temporary.c_str());
  }
  return error;
}

int WriteThrough(Parts parts, const std::string& path) {
  File file(path, 0);
  if (file.fd() < 0) return errno;
  const int error = file.Write(parts);
  const int closed = file.Close();
  return error != 0 ? error : closed;
}

}  // namespace

absl::Status WriteFile(std::string_view bytes, const std::string& path) {
  return WriteParts({bytes}, path);
}

absl::Status WriteParts(Parts parts, const std::string& path) {
  const absl::StatusOr<Target> target = TargetOf(path);
  if (!target.ok()) return target.status();
  const int error = target->is_regular ? Replace(parts, *target)
                                       : WriteThrough(parts, target->path);
  return error == 0 ? absl::OkStatus() : CannotWrite(path, error);
}

FileSet::~FileSet() {
  for (const Entry& entry : entries_) {
    if (!entry.temporary.empty()) unlink(entry.temporary.c_str());
  }
}

absl::Status FileSet::Add(std::string_view bytes, const std::string& path) {
  const absl::StatusOr<Target> target = TargetOf(path);
  if (!target.ok()) return target.status();
  Entry entry = {path, target->path, "", ""};
  if (target->is_regular) {
    entry.temporary = TemporaryFor(target->path);
    if (const int error = WriteTemporary({bytes}, *target, entry.temporary);
        error != 0)
      return CannotWrite(path, error);
  } else {
    entry.bytes = bytes;
  }
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

absl::Status FileSet::Commit() {
  for (const Entry& entry : entries_) {
    if (!entry.temporary.empty()) continue;
    if (const int error = WriteThrough({entry.bytes}, entry.target); error != 0)
      return CannotWrite(entry.path, error);
  }
  for (Entry& entry : entries_) {
    if (entry.temporary.empty()) continue;
    if (rename(entry.temporary.c_str(), entry.target.c_str()) != 0)
      return CannotWrite(entry.path, errno);
    entry.temporary.clear();
  }
  entries_.clear();
  return absl::OkStatus();
}

absl::Status CheckWritable(const std::string& path) {
  const absl::StatusOr<Target> target = TargetOf(path);
  if (!target.ok() || !target->is_regular) return target.status();
  const std::string temporary = TemporaryFor(target->path);
  if (File(temporary, O_CREAT | O_EXCL).fd() < 0)
    return CannotWrite(path, errno);
  unlink(temporary.c_str());
  return absl::OkStatus();
}

absl::Status CheckDistinct(const std::vector<std::string>& results,
                           const std::vector<std::string>& read) {
  std::error_code error;  // what cannot be looked at is found when it is used
  const auto replaced = [&error](const std::string& path) {
    const auto kind = std::filesystem::status(path, error).type();
    return !path.empty() && path != "-" &&
           (kind == std::filesystem::file_type::regular ||
            kind == std::filesystem::file_type::not_found);
  };
  const auto whole = [](const std::string& path) {
    std::error_code failed;  // of a working folder that was deleted
    const std::filesystem::path from = std::filesystem::absolute(path, failed);
    const std::filesystem::path whole =
        failed ? std::filesystem::path()
               : std::filesystem::weakly_canonical(from, failed);
    return failed ? std::filesystem::path(path).lexically_normal() : whole;
  };
  const auto same = [&](const std::string& a, const std::string& b) {
    return std::filesystem::equivalent(a, b, error) || whole(a) == whole(b);
  };
  for (size_t i = 0; i < results.size(); ++i) {
    if (!replaced(results[i])) continue;
    for (const std::string& file : read) {
      if (!file.empty() && same(results[i], file))
        return absl::InvalidArgumentError(absl::StrCat(
            results[i], ": is an input; a result would overwrite it"));
    }
    for (size_t j = 0; j < i; ++j) {
      if (!results[j].empty() && same(results[i], results[j]))
        return absl::InvalidArgumentError(
            absl::StrCat(results[i], ": two results cannot go to one file"));
    }
  }
  return absl::OkStatus();
}

namespace {

absl::Status Make(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error && !std::filesystem::is_directory(path, error))
    error = std::make_error_code(std::errc::not_a_directory);
  return error ? Failed(path, "cannot be made", error.value())
               : absl::OkStatus();
}

}  // namespace

absl::Status MakeFolderOf(const std::string& path) {
  const std::filesystem::path folder =
      std::filesystem::path(path).parent_path();
  return folder.empty() ? absl::OkStatus() : Make(folder);
}

absl::Status MakeFolder(const std::string& path) {
  if (absl::Status s = Make(path); !s.ok()) return s;
  if (access(path.c_str(), W_OK | X_OK) != 0) return CannotWrite(path, errno);
  return absl::OkStatus();
}

}  // namespace systole
