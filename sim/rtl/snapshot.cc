// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "sim/rtl/snapshot.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "absl/strings/str_format.h"

namespace systole {
namespace {

// Reads until the other end is shut down.
std::string ReadAll(int socket) {
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t got = read(socket, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
}

void WriteAll(int socket, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t put =
        send(socket, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) break;
    done += static_cast<size_t>(put);
  }
  shutdown(socket, SHUT_WR);
}

[[noreturn]] void Wait(
    int socket, const std::function<std::string(const std::string&)>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int caught : {SIGINT, SIGTERM, SIGABRT, SIGSEGV})
    signal(caught, SIG_DFL);
  const int nothing = open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    dup2(nothing, fd);
  const std::string order = ReadAll(socket);
  if (!order.empty()) WriteAll(socket, work(order));
  _exit(0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Snapshot>> Snapshot::Take(
    const std::function<std::string(const std::string&)>& work) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return absl::ErrnoToStatus(errno, "no snapshot");
  std::fflush(nullptr);  // otherwise the copy inherits the buffered output
  const pid_t owner = getpid(), copy = fork();
  if (copy == 0) {
    close(sockets[0]);
    Wait(sockets[1], work);
  }
  const int error = errno;
  close(sockets[1]);
  if (copy < 0) {
    close(sockets[0]);
    return absl::ErrnoToStatus(error, "no snapshot");
  }
  return std::unique_ptr<Snapshot>(new Snapshot(owner, copy, sockets[0]));
}

Snapshot::~Snapshot() { End(); }

void Snapshot::End() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  if (copy_ <= 0 || getpid() != owner_) return;
  kill(copy_, SIGKILL);
  while (waitpid(copy_, nullptr, 0) < 0 && errno == EINTR) {
  }
  copy_ = -1;
}

absl::StatusOr<std::string> Snapshot::Tell(const std::string& order) {
  if (socket_ < 0)
    return absl::FailedPreconditionError("the snapshot was used already");
  WriteAll(socket_, order);
  std::string answer = ReadAll(socket_);
  close(socket_);
  socket_ = -1;
  int status = 0;
  while (waitpid(copy_, &status, 0) < 0 && errno == EINTR) {
  }
  copy_ = -1;
  if (!answer.empty()) return answer;
  return absl::InternalError(
      WIFSIGNALED(status)
          ? absl::StrFormat("the replay ended by signal %d", WTERMSIG(status))
          : "the replay gave no answer");
}

}  // namespace systole
