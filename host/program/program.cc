// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "systole/program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "host/program/format.h"

namespace systole {
namespace {

// A file descriptor that closes itself.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { Close(); }
  int fd() const { return fd_; }
  int Close() {
    const int fd = fd_;
    fd_ = -1;
    return fd < 0 ? 0 : close(fd);
  }

 private:
  int fd_;
};

absl::Status Error(const std::string& path, const char* what) {
  return absl::ErrnoToStatus(errno, absl::StrCat(path, ": ", what));
}

}  // namespace

uint32_t program_file::Crc32(const uint8_t* data, size_t size) {
  return static_cast<uint32_t>(crc32_z(crc32_z(0, nullptr, 0), data, size));
}

std::string_view ElementTypeName(ElementType type) {
  constexpr std::string_view kNames[kNumElementTypes] = {"int8", "int32",
                                                         "bf16", "float32"};
  return kNames[static_cast<int>(type)];
}

int64_t ElementBytes(ElementType type) {
  constexpr int64_t kBytes[kNumElementTypes] = {1, 4, 2, 4};
  return kBytes[static_cast<int>(type)];
}

const TensorInfo* Program::FindTensor(const std::string& name) const {
  const auto it =
      std::find_if(tensors.begin(), tensors.end(),
                   [&](const TensorInfo& t) { return t.name == name; });
  return it == tensors.end() ? nullptr : &*it;
}

const Section* Program::FindSection(const std::string& name) const {
  const auto it =
      std::find_if(sections.begin(), sections.end(),
                   [&](const Section& s) { return s.name == name; });
  return it == sections.end() ? nullptr : &*it;
}

absl::Status WriteProgram(const Program& program, const std::string& path) {
  const std::vector<uint8_t> bytes = SerializeProgram(program);
  if (absl::StatusOr<Program> check = ParseProgram(bytes, path); !check.ok())
    return check.status();
  // Renaming would replace a device or a folder rather than write to it.
  struct stat target;
  if (stat(path.c_str(), &target) == 0 && !S_ISREG(target.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is not a regular file"));
  }
  const std::string temporary = absl::StrCat(path, ".", getpid(), ".tmp");
  const absl::Status status = [&] {
    File file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                   0666));
    if (file.fd() < 0) return Error(temporary, "cannot be created");
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t n =
          write(file.fd(), bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Error(temporary, "cannot be written");
      done += n;
    }
    if (fsync(file.fd()) != 0 || file.Close() != 0)
      return Error(temporary, "cannot be written");
    if (rename(temporary.c_str(), path.c_str()) != 0)
      return Error(path, "cannot be replaced");
    return absl::OkStatus();
  }();
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

absl::StatusOr<Program> ReadProgram(const std::string& path) {
  File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd() < 0) return Error(path, "cannot be opened");
  std::vector<uint8_t> bytes;
  constexpr size_t kChunk = size_t{1} << 20;
  for (size_t size = 0;;) {
    bytes.resize(size + kChunk);
    const ssize_t n = read(file.fd(), bytes.data() + size, kChunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error(path, "cannot be read");
    size += n;
    bytes.resize(size);
    if (n == 0) break;
  }
  return ParseProgram(bytes, path);
}

}  // namespace systole
