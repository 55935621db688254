// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A core model that, at cycles of a plan, is copied with its whole process: the
// copy turns a bit and goes on to its own end, the original goes on unchanged.
// It is engine "faults" of the registry and wraps engine "state".

#ifndef SYSTOLE_VERIF_FAULTS_INJECTOR_H_
#define SYSTOLE_VERIF_FAULTS_INJECTOR_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace systole::faults {

struct Injection {
  uint64_t cycle = 0;          // since Arm
  std::function<void()> turn;  // in the copy
};

class Injector {
 public:
  // The one of this process.
  static Injector& Get();

  // From the next cycle on; by cycle. At most `jobs` copies at a time, each
  // ended after so many seconds.
  void Arm(std::vector<Injection> plan, int jobs, unsigned seconds);
  // In the original: waits for all copies. What each said, in the plan's order;
  // of one that was ended by its time "timeout". kInternal: a copy died, or the
  // plan was not done to its end.
  absl::Status Collect(std::vector<std::string>* said);

  // Whether this process is a copy.
  bool copied() const { return copy_ >= 0; }
  // In a copy: the end.
  [[noreturn]] void Say(const std::string& text);

  // By the core model, before each cycle.
  void BeforeCycle(uint64_t cycle) {
    if (armed_ && next_ < plan_.size()) Step(cycle);
  }

 private:
  struct Running {
    pid_t pid;
    size_t index;
    int pipe;
  };
  void Step(uint64_t cycle);
  void WaitForOne();

  bool armed_ = false, begun_ = false;
  std::vector<Injection> plan_;
  size_t next_ = 0;
  uint64_t zero_ = 0;
  size_t jobs_ = 1;
  unsigned seconds_ = 0;
  std::vector<Running> running_;
  std::vector<std::string> said_;
  absl::Status status_;
  long copy_ = -1;
  int pipe_ = -1;
};

}  // namespace systole::faults

#endif  // SYSTOLE_VERIF_FAULTS_INJECTOR_H_
