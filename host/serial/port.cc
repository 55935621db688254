// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// POSIX terminals, raw.

#include "host/serial/port.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"

namespace systole::serial {
namespace {

speed_t Speed(int baud) {
  switch (baud) {
    case 115200:
      return B115200;
    case 921600:
      return B921600;
    case 1000000:
      return B1000000;
    case 2000000:
      return B2000000;
    case 3000000:
      return B3000000;
    case 4000000:
      return B4000000;
    default:
      return B0;
  }
}

class Terminal : public Port {
 public:
  Terminal(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~Terminal() override { close(fd_); }

  absl::Status Write(absl::Span<const uint8_t> bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = write(fd_, bytes.data(), bytes.size());
      if (n > 0) {
        bytes.remove_prefix(static_cast<size_t>(n));
        continue;
      }
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno != EAGAIN) return Gone();
      pollfd wait = {fd_, POLLOUT, 0};
      if (poll(&wait, 1, kWriteMs) == 0)
        return absl::UnavailableError(
            absl::StrFormat("%s takes no more bytes", path_));
      if ((wait.revents & (POLLERR | POLLHUP)) != 0) return Gone();
    }
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(absl::Span<uint8_t> bytes,
                              double seconds) override {
    pollfd wait = {fd_, POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(seconds * 1000));
    if (ready == 0 || (ready < 0 && errno == EINTR)) return 0;
    const ssize_t n = read(fd_, bytes.data(), bytes.size());
    if (n > 0) return static_cast<size_t>(n);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    return Gone();
  }

 private:
  static constexpr int kWriteMs = 60000;

  absl::Status Gone() const {
    return absl::UnavailableError(
        absl::StrFormat("%s is gone: is the cable still plugged in?", path_));
  }

  std::string path_;
  int fd_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Port>> OpenPort(const std::string& path,
                                               int baud) {
  const speed_t speed = Speed(baud);
  if (speed == B0)
    return absl::InvalidArgumentError(absl::StrFormat(
        "%d baud: there are 115200, 921600, 1, 2, 3 and 4 million", baud));
  const int fd = open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    const int error = errno;
    return absl::UnavailableError(absl::StrFormat(
        "cannot open %s: %s%s", path, std::strerror(error),
        error == ENOENT   ? " (is the board plugged in?)"
        : error == EACCES ? " (is this user in the group dialout?)"
                          : ""));
  }
  auto port = std::make_unique<Terminal>(path, fd);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0)
    return absl::UnavailableError(
        absl::StrFormat("%s is in use by another process", path));
  termios settings = {};
  if (tcgetattr(fd, &settings) != 0)
    return absl::InvalidArgumentError(
        absl::StrFormat("%s is not a serial port", path));
  cfmakeraw(&settings);
  settings.c_cflag = (settings.c_cflag & ~(CSTOPB | CRTSCTS)) | CLOCAL | CREAD;
  cfsetispeed(&settings, speed);
  cfsetospeed(&settings, speed);
  if (tcsetattr(fd, TCSANOW, &settings) != 0)
    return absl::UnavailableError(
        absl::StrFormat("%s does not do %d baud", path, baud));
  tcflush(fd, TCIOFLUSH);
  return port;
}

}  // namespace systole::serial
