// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// An event that becomes ready once, with success or an error.
#ifndef SYSTOLE_HOST_RUNTIME_EVENT_H_
#define SYSTOLE_HOST_RUNTIME_EVENT_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"

namespace systole::runtime {

// Thread-safe.
class Event {
 public:
  using Callback = std::function<void(const absl::Status&)>;

  // May be called once. Wakes waiting threads and runs the callbacks on the
  // caller's thread.
  void Set(absl::Status status);
  bool ready() const;
  // Waits and returns the status that was set.
  absl::Status Await() const;
  // Calls back with the status; immediately if the event is ready.
  void OnReady(Callback callback);

  static std::shared_ptr<Event> Ready(absl::Status status = absl::OkStatus());

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::optional<absl::Status> status_;
  std::vector<Callback> callbacks_;
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_EVENT_H_
