// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A thread that does the same short work again and again, beside its owner.
//
//   Follower follower([&] { second.eval(); });
//   follower.Start();   // the work begins
//   first.eval();
//   follower.Join();    // it is done, and seen
//
// Between turns the thread spins for some microseconds, then lets others run,
// then sleeps. In a copy of the process (fork) it is made anew by Start, which
// no copy is made between and Join.

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
  pid_t process_ = 0;  // whose thread it is
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_FOLLOWER_H_
