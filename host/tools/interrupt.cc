// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/interrupt.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"

namespace systole::tools {
namespace {

// Nanoseconds.
constexpr int64_t kPatience = 1'000'000'000;
// Signals that come together are one: a shell, make or timeout may send one to
// the process and to its group.
constexpr int64_t kTogether = 100'000'000;

constexpr std::pair<int, const char*> kSignals[] = {{SIGINT, "SIGINT"},
                                                    {SIGTERM, "SIGTERM"},
                                                    {SIGHUP, "SIGHUP"},
                                                    {SIGPIPE, "SIGPIPE"}};

std::atomic<int> signal_number = 0;
std::atomic<int64_t> since = 0;
static_assert(std::atomic<int>::is_always_lock_free &&
              std::atomic<int64_t>::is_always_lock_free);

int64_t Now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{1'000'000'000} * t.tv_sec + t.tv_nsec;
}

// Only what is safe in a signal handler.
void Handle(int signal) {
  const int64_t now = Now();
  if (signal_number == 0) {
    since = now;
    signal_number = signal;
  } else if (now - since > kTogether && signal != SIGPIPE) {
    _exit(128 + signal);
  }
}

}  // namespace

void CatchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = Handle;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const auto& [signal, name] : kSignals)
    sigaddset(&action.sa_mask, signal);
  for (const auto& [signal, name] : kSignals) {
    struct sigaction before;
    const bool may_be_ignored = signal == SIGHUP || signal == SIGPIPE;
    if (may_be_ignored && sigaction(signal, nullptr, &before) == 0 &&
        before.sa_handler == SIG_IGN)
      continue;
    sigaction(signal, &action, nullptr);
  }
}

bool Interrupted() { return signal_number != 0; }

bool InterruptOverdue() { return Interrupted() && Now() - since > kPatience; }

int InterruptExitCode() { return Interrupted() ? 128 + signal_number : 0; }

absl::Status InterruptedError(const std::string& where) {
  const char* by = "a signal";
  for (const auto& [signal, name] : kSignals) {
    if (signal == signal_number) by = name;
  }
  return absl::CancelledError(absl::StrCat("stopped by ", by, " ", where));
}

}  // namespace systole::tools
