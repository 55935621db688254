// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/tb/job.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "verif/tb/core_module.h"

namespace systole::tb {
namespace {

constexpr int kStartSeconds = 60, kEndMilliseconds = 5000,
              kPollMilliseconds = 5;
constexpr char kProgram[] = "chips";
constexpr char kOwnError[] = "systole chips: ";

// The words of the command in front of `-n N program`.
std::vector<std::string> Launcher() {
  const char* named = std::getenv("SYSTOLE_MPIRUN");
  if (named != nullptr && *named != '\0')
    return absl::StrSplit(named, ' ', absl::SkipEmpty());
  // More processes than processors are allowed, and may run on any of them:
  // another job would be bound to the same ones.
  std::vector<std::string> words = {"mpirun", "--map-by", ":OVERSUBSCRIBE",
                                    "--bind-to", "none"};
  if (geteuid() == 0) words.push_back("--allow-run-as-root");
  return words;
}

// The environment, but for Open MPI's if this process is part of a job itself,
// and with variables that are not set yet.
std::vector<std::string> Environment(const std::string& program) {
  const bool in_job = std::getenv("PMIX_RANK") != nullptr ||
                      std::getenv("OMPI_COMM_WORLD_RANK") != nullptr;
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const absl::string_view text = *entry;
    if (!in_job ||
        (!absl::StartsWith(text, "OMPI_") && !absl::StartsWith(text, "PMIX_") &&
         !absl::StartsWith(text, "PRTE_")))
      variables.emplace_back(text);
  }
  // Containers often forbid a process to copy from another one's memory.
  for (const std::string& text :
       {std::string("OMPI_MCA_btl_vader_single_copy_mechanism=none"),
        std::string("OMPI_MCA_btl_sm_single_copy_mechanism=none"),
        // The program lies beside the models.
        absl::StrCat("SYSTOLE_MODELS=",
                     program.substr(0, program.rfind('/')))}) {
    const std::string name = text.substr(0, text.find('=') + 1);
    if (std::none_of(variables.begin(), variables.end(),
                     [&](const auto& v) { return absl::StartsWith(v, name); }))
      variables.push_back(text);
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Abstract: there is no file to remove.
sockaddr_un AddressOf(const std::string& name, socklen_t* size) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  *size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

bool IsOwn(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == geteuid();
}

// The line that says what went wrong: our own, else Open MPI's.
std::string Reason(const std::string& text) {
  absl::string_view own, noticed, first;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (line.find_first_not_of("-*") == absl::string_view::npos) continue;
    if (first.empty()) first = line;
    if (noticed.empty() && absl::StrContains(line, " noticed that "))
      noticed = line;
    if (own.empty() && absl::ConsumePrefix(&line, kOwnError)) own = line;
  }
  if (own.empty()) own = noticed.empty() ? first : noticed;
  return std::string(own);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Job>> Job::Start(int processes) {
  const std::string program = FindProgram(kProgram);
  if (program.empty()) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%d processes: this build has none for chips, as it was configured "
        "without Open MPI; `scripts/setup.sh mpi` installs it, then configure "
        "and build again",
        processes));
  }
  std::random_device random;
  const std::string address = absl::StrFormat("systole-chips-%d-%08x%08x",
                                              getpid(), random(), random());
  socklen_t size;
  const sockaddr_un bound = AddressOf(address, &size);
  const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listening < 0 ||
      bind(listening, reinterpret_cast<const sockaddr*>(&bound), size) != 0 ||
      listen(listening, 1) != 0) {
    const int error = errno;
    if (listening >= 0) close(listening);
    return absl::ErrnoToStatus(error, "no socket for processes of chips");
  }
  std::unique_ptr<Job> job(new Job);
  absl::Status status = job->Spawn(processes, program, address);
  if (status.ok()) status = job->Accept(listening);
  close(listening);
  if (!status.ok()) return status;
  return job;
}

absl::Status Job::Spawn(int processes, const std::string& program,
                        const std::string& address) {
  std::vector<std::string> words = Launcher();
  command_ = words[0];
  for (const std::string& word :
       {std::string("-n"), absl::StrCat(processes), program, address})
    words.push_back(word);
  std::vector<std::string> environment = Environment(program);
  owner_ = getpid();
  errors_ = memfd_create("systole-chips", MFD_CLOEXEC);
  if (errors_ < 0) return absl::ErrnoToStatus(errno, "no file in memory");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  posix_spawn_file_actions_adddup2(&files, errors_, STDERR_FILENO);
  // A group of its own: a terminal's interrupt is for the host, which ends the
  // job itself.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error =
      posix_spawnp(&mpirun_, words[0].c_str(), &files, &attributes,
                   Pointers(words).data(), Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error == 0) return absl::OkStatus();
  mpirun_ = -1;
  return absl::FailedPreconditionError(absl::StrFormat(
      "%d processes: cannot run %s (%s): install Open MPI (`scripts/setup.sh "
      "mpi`), or name its mpirun in SYSTOLE_MPIRUN",
      processes, command_, std::strerror(error)));
}

absl::Status Job::Accept(int listening) {
  for (int passed = 0; passed < kStartSeconds * 1000;
       passed += kPollMilliseconds) {
    pollfd poll_in{listening, POLLIN, 0};
    if (poll(&poll_in, 1, kPollMilliseconds) == 1) {
      socket_ = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket_ >= 0 && IsOwn(socket_)) return absl::OkStatus();
      if (socket_ >= 0) close(std::exchange(socket_, -1));
    }
    if (HasEnded()) return Lost();
  }
  return absl::UnavailableError(
      absl::StrFormat("the processes of the chips did not start within %d "
                      "seconds (%s)",
                      kStartSeconds, command_));
}

Job::~Job() {
  if (getpid() == owner_ && socket_ >= 0)
    SendMessage(socket_, MessageKind::kEnd, "").IgnoreError();
  if (socket_ >= 0) close(socket_);
  if (getpid() == owner_) AwaitEnd(socket_ >= 0 ? kEndMilliseconds : 0);
  if (errors_ >= 0) close(errors_);
}

bool Job::HasEnded() {
  if (mpirun_ < 0) return true;
  const pid_t ended = waitpid(mpirun_, &exit_status_, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
  mpirun_ = -1;
  return true;
}

void Job::AwaitEnd(int milliseconds) {
  for (int passed = 0; passed < milliseconds && !HasEnded();
       passed += kPollMilliseconds)
    poll(nullptr, 0, kPollMilliseconds);
  // First mpirun may end its processes.
  for (const int signal : {SIGTERM, SIGKILL}) {
    if (HasEnded()) return;
    kill(-mpirun_, signal);
    for (int passed = 0; passed < kEndMilliseconds && !HasEnded();
         passed += kPollMilliseconds)
      poll(nullptr, 0, kPollMilliseconds);
  }
}

absl::Status Job::Lost() {
  AwaitEnd(kEndMilliseconds);
  std::string text(std::max<off_t>(lseek(errors_, 0, SEEK_END), 0), '\0');
  const ssize_t got = pread(errors_, text.data(), text.size(), 0);
  text.resize(std::max<ssize_t>(got, 0));
  std::string reason = Reason(text);
  if (reason.empty()) {
    reason = WIFEXITED(exit_status_)
                 ? absl::StrFormat("%s ended with status %d", command_,
                                   WEXITSTATUS(exit_status_))
                 : absl::StrFormat("%s ended by signal %d", command_,
                                   WTERMSIG(exit_status_));
  }
  return absl::UnavailableError(
      absl::StrCat("the processes of the chips have ended: ", reason));
}

absl::Status Job::Send(MessageKind kind, absl::string_view bytes) {
  return SendMessage(socket_, kind, bytes).ok() ? absl::OkStatus() : Lost();
}

absl::StatusOr<Message> Job::Receive() {
  auto message = ReceiveMessage(socket_);
  if (!message.ok()) return Lost();
  return message;
}

}  // namespace systole::tb
