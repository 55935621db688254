// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A core model that, at cycles of a plan, is copied with its whole process: the
// copy turns bits and goes on to its own end, the original goes on unchanged.
// It is engine "faults" of the registry and wraps engine "state".
//
// A copy may turn several bits. What it says is so of each of them if it says
// "masked"; otherwise the group is cut in halves, down to single bits, by a
// process that stays where the group began. A copy that has become equal to the
// run without a turned bit, at the same cycle, is masked and ends there.

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
  uint64_t cycle = 0;          // since Arm
  std::function<void()> turn;  // in the copy
};

class Injector {
 public:
  struct Plan {
    std::vector<Injection> injections;        // by cycle
    std::vector<std::vector<size_t>> groups;  // of them, by their first ones
    int jobs = 1;                             // groups at a time
    uint64_t patience = 0;  // cycles beyond the rehearsal's that a copy has
    unsigned seconds = 0;   // of processor time that a copy has
    std::vector<absl::Span<const uint8_t>> state;  // of the models
  };
  struct Counters {
    uint64_t copies = 0;  // that turned bits
    uint64_t early = 0;   // of them ended because they had become equal
  };

  // The one of this process.
  static Injector& Get();

  // From the next cycle on: copies the process, has the copy do `run` without
  // a turned bit, keeps its digests, and gives back what `run` says.
  absl::StatusOr<std::string> Rehearse(
      absl::Span<const absl::Span<const uint8_t>> state,
      const std::function<std::string()>& run);
  // From the next cycle on.
  void Arm(Plan plan);
  // In the original: waits for all copies. What was said of each injection; of
  // one whose copy was ended by its time "timeout". kInternal: a copy died, or
  // the plan was not done to its end.
  absl::Status Collect(std::vector<std::string>* said);
  Counters counters() const { return counters_; }

  // Whether this process is a copy.
  bool copied() const { return pipe_ >= 0; }
  // In a copy: the end.
  [[noreturn]] void Say(const std::string& text);

  // By the core model.
  void set_memory(tb::MemoryModel* memory) { memory_ = memory; }
  void BeforeCycle(uint64_t cycle) {
    if (role_ != Role::kIdle) Step(cycle);
  }
  void AfterCycle(const tb::Pins& pins) {
    if (role_ != Role::kIdle) Watch(pins);
  }

 private:
  enum class Role { kIdle, kRehearsal, kOriginal, kCopy };
  struct Running {  // a process that was started
    pid_t pid;
    const std::vector<size_t>* group;
    int pipe;
  };
  void Step(uint64_t cycle);
  void Watch(const tb::Pins& pins);
  // True: this process is the copy, and goes on.
  bool StartNextGroup();
  bool Divide(absl::Span<const size_t> members, std::string* said);
  void BecomeCopy(absl::Span<const size_t> members);
  void TurnDue();
  void Compare();
  void WaitForOne();
  uint64_t Digest() const;
  static std::string ReadAll(int pipe, pid_t pid);
  std::string ReadOne(int pipe, pid_t pid);  // of a copy

  Role role_ = Role::kIdle;
  bool begun_ = false;
  Plan plan_;
  size_t next_ = 0;  // group
  uint64_t zero_ = 0, now_ = 0;
  uint64_t history_ = 0;           // of the host's pins
  std::vector<uint64_t> digests_;  // each kEvery cycles, of the rehearsal
  std::vector<Running> running_;
  std::vector<std::string> said_;
  absl::Status status_;
  Counters counters_;
  tb::MemoryModel* memory_ = nullptr;
  // Of a copy.
  std::vector<size_t> due_;  // the next one last
  uint64_t turned_ = 0;      // cycle of the last one
  int pipe_ = -1;
};

}  // namespace systole::faults

#endif  // SYSTOLE_VERIF_FAULTS_INJECTOR_H_
