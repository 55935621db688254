// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A copy of this process that waits (fork): whatever it is told to do, it does
// from the state in which it was taken. It costs what is written after it, in
// pages, and ends with this object or with the process that took it.
//
//   auto snapshot = Snapshot::Take([&](const std::string& order) {
//     return RunAgain(order);  // in the copy; its threads are this one alone
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
  // `work` gets the order and gives the answer, in the copy, which ends then.
  // What the copy prints is lost. kUnavailable: no process or memory left.
  static absl::StatusOr<std::unique_ptr<Snapshot>> Take(
      const std::function<std::string(const std::string&)>& work);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // Once. kInternal: the copy ended without an answer.
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
