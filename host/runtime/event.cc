// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/event.h"

#include <utility>

namespace systole::runtime {

void Event::Set(absl::Status status) {
  std::vector<Callback> callbacks;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (status_.has_value()) return;
    status_ = status;
    callbacks.swap(callbacks_);
  }
  changed_.notify_all();
  for (const Callback& callback : callbacks) callback(status);
}

bool Event::ready() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return status_.has_value();
}

absl::Status Event::Await() const {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return status_.has_value(); });
  return *status_;
}

void Event::OnReady(Callback callback) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!status_.has_value()) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback(*status_);
}

std::shared_ptr<Event> Event::Ready(absl::Status status) {
  auto event = std::make_shared<Event>();
  event->Set(std::move(status));
  return event;
}

}  // namespace systole::runtime
