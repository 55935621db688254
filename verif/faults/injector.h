// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A core model that copies its whole process (fork) at the cycles of a plan.
// The copy flips bits and runs to its end; the original continues unchanged. It
// is engine "faults" of the registry and wraps engine "state".
//
// A copy may flip the bits of a group. If it reports "masked", this holds for
// each of them. Otherwise a process that has stayed where the group began
// divides the group in halves, down to single bits. If a copy's state equals
// that of the run without a flip in the same cycle, the copy is masked and ends
// there.

#ifndef SYSTOLE_VERIF_FAULTS_INJECTOR_H_
#define SYSTOLE_VERIF_FAULTS_INJECTOR_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "verif/tb/core_model.h"
#include "verif/tb/memory.h"

namespace systole::faults {

inline constexpr const char kMasked[] = "masked";

struct Injection {
  uint64_t cycle = 0;          // counted from Arm
  std::function<void()> turn;  // runs in the copy
};

class Injector {
 public:
  struct Plan {
    std::vector<Injection> injections;        // sorted by cycle
    std::vector<std::vector<size_t>> groups;  // indices, by the first one
    int jobs = 1;                             // groups that run at a time
    uint64_t patience = 0;  // cycles that a copy may run beyond the rehearsal
    unsigned seconds = 0;   // processor time of a copy
    std::vector<absl::Span<const uint8_t>> state;  // state of the models
  };
  struct Counters {
    uint64_t copies = 0;  // copies that flipped bits
    uint64_t early = 0;   // copies that ended early, with an equal state
  };

  // The injector of this process.
  static Injector& Get();

  // Copies the process. The copy executes `run` without a flip. Keeps digests
  // of the copy's state and returns the result of `run`.
  absl::StatusOr<std::string> Rehearse(
      absl::Span<const absl::Span<const uint8_t>> state,
      const std::function<std::string()>& run);
  // Starts the plan at the next cycle.
  void Arm(Plan plan);
  // In the original: waits for all copies. For each injection, `said` gets what
  // its copy reported, or "timeout" if it exceeded its time. kInternal: a copy
  // died, or the plan was not completed.
  absl::Status Collect(std::vector<std::string>* said);
  Counters counters() const { return counters_; }

  // Whether this process is a copy.
  bool copied() const { return pipe_ >= 0; }
  // In a copy: reports and exits.
  [[noreturn]] void Say(const std::string& text);

  // Called by the core model.
  void set_memory(tb::MemoryModel* memory) { memory_ = memory; }
  void BeforeCycle(uint64_t cycle) {
    if (role_ != Role::kIdle) Step(cycle);
  }
  void AfterCycle(const tb::Pins& pins) {
    if (role_ != Role::kIdle) Watch(pins);
  }

 private:
  enum class Role { kIdle, kRehearsal, kOriginal, kCopy };
  struct Running {  // a child process
    pid_t pid;
    const std::vector<size_t>* group;
    int pipe;
  };
  void Step(uint64_t cycle);
  void Watch(const tb::Pins& pins);
  // Returns true in the copy, which continues.
  bool StartNextGroup();
  bool Divide(absl::Span<const size_t> members, std::string* said);
  void BecomeCopy(absl::Span<const size_t> members);
  void TurnDue();
  void Compare();
  void WaitForOne();
  uint64_t Digest() const;
  static std::string ReadAll(int pipe, pid_t pid);
  std::string ReadOne(int pipe, pid_t pid);  // from a copy

  Role role_ = Role::kIdle;
  bool begun_ = false;
  Plan plan_;
  size_t next_ = 0;  // next group
  uint64_t zero_ = 0, now_ = 0;
  uint64_t history_ = 0;           // hash of the host's pins
  std::vector<uint64_t> digests_;  // of the rehearsal, one every kEvery cycles
  std::vector<Running> running_;
  std::vector<std::string> said_;
  absl::Status status_;
  Counters counters_;
  tb::MemoryModel* memory_ = nullptr;
  // State of a copy.
  std::vector<size_t> due_;  // the next one is last
  uint64_t turned_ = 0;      // cycle of the last flip
  int pipe_ = -1;
};

}  // namespace systole::faults

#endif  // SYSTOLE_VERIF_FAULTS_INJECTOR_H_
