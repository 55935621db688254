// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Handles of systole.h: numbers that are never used twice, in the guise of
// pointers, so that a closed one is known as such.
//
//   Handles<Program, systole_program> programs("program");
//   systole_program* handle = programs.Add(std::make_shared<Program>());
//   absl::StatusOr<std::shared_ptr<Program>> program = programs.Find(handle);
#ifndef SYSTOLE_HOST_CAPI_HANDLES_H_
#define SYSTOLE_HOST_CAPI_HANDLES_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace systole::capi {

// Of all kinds of handles, so that a program is no device.
inline uintptr_t NextHandle() {
  static std::atomic<uintptr_t> last{0};
  return ++last;
}

template <typename Object, typename Handle>
class Handles {
 public:
  explicit Handles(const char* name) : name_(name) {}

  Handle* Add(std::shared_ptr<Object> object) {
    std::lock_guard<std::mutex> lock(mutex_);
    const uintptr_t number = NextHandle();
    objects_.emplace(number, std::move(object));
    return reinterpret_cast<Handle*>(number);
  }

  // InvalidArgument: NULL, closed, or never a handle. What is found lives on
  // when another thread closes it.
  absl::StatusOr<std::shared_ptr<Object>> Find(const Handle* handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<uintptr_t>(handle));
    if (found == objects_.end()) return NotOne(handle);
    return found->second;
  }

  absl::StatusOr<std::shared_ptr<Object>> Remove(const Handle* handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<uintptr_t>(handle));
    if (found == objects_.end()) return NotOne(handle);
    std::shared_ptr<Object> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

 private:
  absl::Status NotOne(const Handle* handle) const {
    return absl::InvalidArgumentError(
        handle == nullptr
            ? absl::StrCat("the ", name_, " is NULL")
            : absl::StrCat("the ", name_, " is closed, or was never open"));
  }

  const char* const name_;
  std::mutex mutex_;
  std::map<uintptr_t, std::shared_ptr<Object>> objects_;
};

}  // namespace systole::capi

#endif  // SYSTOLE_HOST_CAPI_HANDLES_H_
