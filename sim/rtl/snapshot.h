// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A snapshot of this process: a forked copy that waits. The copy does the work
// that it is told to do from the state in which the snapshot was taken. Its
// cost is the memory pages that are written afterwards. The copy ends with this
// object or with the process that took it.
//
//   auto snapshot = Snapshot::Take([&](const std::string& order) {
//     return RunAgain(order);  // runs in the copy, which has only this thread
//   });
//   absl::StatusOr<std::string> answer = (*snapshot)->Tell("order");

#ifndef SYSTOLE_SIM_RTL_SNAPSHOT_H_
#define SYSTOLE_SIM_RTL_SNAPSHOT_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace systole {

class Snapshot {
 public:
  // `work` runs in the copy: it receives the order and returns the answer; then
  // the copy ends. Output that the copy prints is lost. kUnavailable: out of
  // processes or memory.
  static absl::StatusOr<std::unique_ptr<Snapshot>> Take(
      const std::function<std::string(const std::string&)>& work);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // May be called once. kInternal: the copy ended without an answer.
  absl::StatusOr<std::string> Tell(const std::string& order);

 private:
  Snapshot(pid_t owner, pid_t copy, int socket)
      : owner_(owner), copy_(copy), socket_(socket) {}
  void End();

  pid_t owner_, copy_;
  int socket_;
};

}  // namespace systole

#endif  // SYSTOLE_SIM_RTL_SNAPSHOT_H_
