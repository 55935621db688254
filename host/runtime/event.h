// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Something that becomes ready once, well or with an error.
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

// Safe from any thread.
class Event {
 public:
  using Callback = std::function<void(const absl::Status&)>;

  // Once; wakes who waits and calls back, on the caller's thread.
  void Set(absl::Status status);
  bool ready() const;
  // Waits. The status that was set.
  absl::Status Await() const;
  // Called with the status, at once if it is there.
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
