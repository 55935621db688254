// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/pjrt/propagation.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

extern char** environ;

namespace systole::pjrt {
namespace {

constexpr int kPatienceSeconds = 120;  // for an answer
constexpr uint64_t kLargest = uint64_t{1} << 32;

absl::Status Ended() { return absl::UnavailableError("its process ended"); }

// The caller's variables, but those that the process has for itself.
std::vector<std::string> Environment(const std::string& folders) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!absl::StartsWith(*variable, "PYTHONPATH=") &&
        !absl::StartsWith(*variable, "JAX_PLATFORMS="))
      variables.emplace_back(*variable);
  }
  variables.push_back(absl::StrCat("PYTHONPATH=", folders));
  variables.emplace_back("JAX_PLATFORMS=cpu");
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Propagation::~Propagation() { Stop(); }

void Propagation::Stop() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  // A process that was forked has its parent's, which is not its own.
  if (process_ > 0 && owner_ == getpid()) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  process_ = -1;
}

absl::Status Propagation::Start() {
  if (socket_ >= 0 && owner_ == getpid()) return absl::OkStatus();
  Stop();
  const std::vector<std::string> lines = absl::StrSplit(command_, '\n');
  if (lines.size() != 3)
    return absl::UnavailableError("the package systole_jax did not name it");
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return absl::UnavailableError(strerror(errno));
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, pair[1], 0);
  posix_spawn_file_actions_adddup2(&files, pair[1], 1);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  // A session of its own: Ctrl-C is for the caller.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  std::vector<std::string> arguments = {lines[0], lines[1]};
  std::vector<std::string> variables = Environment(lines[2]);
  const int error =
      posix_spawn(&process_, lines[0].c_str(), &files, &attributes,
                  Pointers(arguments).data(), Pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  close(pair[1]);
  owner_ = getpid();
  socket_ = pair[0];
  if (error == 0) return absl::OkStatus();
  process_ = -1;
  Stop();
  return absl::UnavailableError(absl::StrCat(lines[0], ": ", strerror(error)));
}

absl::Status Propagation::Send(const void* data, size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = send(socket_, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return Ended();
    bytes += sent;
    size -= sent;
  }
  return absl::OkStatus();
}

absl::Status Propagation::Receive(void* data, size_t size) {
  auto* bytes = static_cast<char*>(data);
  while (size > 0) {
    pollfd ready = {socket_, POLLIN, 0};
    const int count = poll(&ready, 1, 1000 * kPatienceSeconds);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) {
      return absl::UnavailableError(absl::StrCat(
          "its process did not answer in ", kPatienceSeconds, " seconds"));
    }
    const ssize_t received = recv(socket_, bytes, size, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return Ended();
    bytes += received;
    size -= received;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Propagation::Propagate(std::string_view artifact) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (absl::Status s = Start(); !s.ok()) return s;
  const uint64_t size = artifact.size();  // this and the answer: little-endian
  uint64_t answer_size = 0;
  uint8_t failed = 0;
  std::string answer;
  absl::Status status = Send(&size, sizeof size);
  if (status.ok()) status = Send(artifact.data(), artifact.size());
  if (status.ok()) status = Receive(&answer_size, sizeof answer_size);
  if (status.ok()) status = Receive(&failed, sizeof failed);
  if (status.ok() && answer_size > kLargest)
    status = absl::UnavailableError("its process gave no answer");
  if (status.ok()) {
    answer.resize(answer_size);
    status = Receive(answer.data(), answer.size());
  }
  if (!status.ok()) {
    Stop();
    return status;
  }
  if (failed != 0) return absl::InternalError(answer);
  return answer;
}

}  // namespace systole::pjrt
