// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Suggestions of how the values of a program are divided among devices, by
// Shardy's propagation. It runs in a process of its own
// (python/systole_jax/_propagation.py), for a failed check of the library ends
// the process in which it is.
#ifndef SYSTOLE_HOST_PJRT_PROPAGATION_H_
#define SYSTOLE_HOST_PJRT_PROPAGATION_H_

#include <sys/types.h>

#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace systole::pjrt {

class Propagation {
 public:
  // `command`: a Python interpreter, the script, and the folders of its
  // packages, joined by ':'; each on a line. Empty: there is none.
  explicit Propagation(std::string command) : command_(std::move(command)) {}
  ~Propagation();
  Propagation(const Propagation&) = delete;
  Propagation& operator=(const Propagation&) = delete;

  // The artifact with the shardings of its operations. The process starts with
  // the first call, and again after it has ended. Thread-safe. Errors:
  // Unavailable (there is no process, it ended or did not answer), Internal
  // (what it says).
  absl::StatusOr<std::string> Propagate(std::string_view artifact);

 private:
  absl::Status Start();
  void Stop();
  absl::Status Send(const void* data, size_t size);
  absl::Status Receive(void* data, size_t size);

  const std::string command_;
  std::mutex mutex_;
  pid_t process_ = -1, owner_ = -1;
  int socket_ = -1;
};

}  // namespace systole::pjrt

#endif  // SYSTOLE_HOST_PJRT_PROPAGATION_H_
