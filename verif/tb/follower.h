// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A thread that repeats the same short work in parallel to its owner.
//
//   Follower follower([&] { second.eval(); });
//   follower.Start();   // the work begins
//   first.eval();
//   follower.Join();    // the work is done, and its effects are visible
//
// Between turns the thread spins for some microseconds, then yields, then
// sleeps. In a copy of the process (fork), Start creates it again. The process
// must not be copied between Start and Join.

#ifndef SYSTOLE_VERIF_TB_FOLLOWER_H_
#define SYSTOLE_VERIF_TB_FOLLOWER_H_

#include <sys/types.h>

#include <functional>
#include <memory>

namespace systole::tb {

class Follower {
 public:
  explicit Follower(std::function<void()> work);
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  void Start();
  void Join();

 private:
  struct Thread;
  std::function<void()> work_;
  std::unique_ptr<Thread> thread_;
  pid_t process_ = 0;  // the process that has the thread
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_FOLLOWER_H_
