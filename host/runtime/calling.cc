// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/calling.h"

#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/runtime/client.h"

namespace systole::runtime {
namespace {

// Threads that do calls, each with the device whose program waits for it.
class CallingThreads {
 public:
  void Enter(const Device& device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    devices_[std::this_thread::get_id()] = &device;
  }
  void Leave() {
    const std::lock_guard<std::mutex> lock(mutex_);
    devices_.erase(std::this_thread::get_id());
  }
  // Of this thread; null if it does none.
  const Device* Find() {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = devices_.find(std::this_thread::get_id());
    return found == devices_.end() ? nullptr : found->second;
  }
  static CallingThreads& All() {
    static CallingThreads& all = *new CallingThreads;
    return all;
  }

 private:
  std::mutex mutex_;
  std::map<std::thread::id, const Device*> devices_;
};

}  // namespace

absl::Status CheckNotCalling(const std::string& name, const Device& device) {
  const Device* const calling = CallingThreads::All().Find();
  if (calling == nullptr ||
      (calling != &device && device.client().board() == nullptr))
    return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      name,
      ": a callback computes with JAX on the device whose program waits for "
      "it; list cpu in JAX_PLATFORMS (systole,cpu), on which it computes then, "
      "or use numpy in it"));
}

ir::Caller Marked(ir::Caller caller, const Device& device) {
  if (!caller) return caller;
  return [caller = std::move(caller), &device](
             const ir::Node& node,
             const ir::Operands& operands) -> absl::StatusOr<ir::Literals> {
    std::optional<Board::Call> call;
    if (Board* const board = device.client().board(); board != nullptr)
      call.emplace(*board);
    CallingThreads::All().Enter(device);
    auto results = caller(node, operands);
    CallingThreads::All().Leave();
    return results;
  };
}

}  // namespace systole::runtime
