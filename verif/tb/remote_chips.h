// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The chips of a torus in processes of their own, which exchange what goes
// over the links through MPI (docs/link.md).

#ifndef SYSTOLE_VERIF_TB_REMOTE_CHIPS_H_
#define SYSTOLE_VERIF_TB_REMOTE_CHIPS_H_

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "verif/tb/chips.h"
#include "verif/tb/job.h"
#include "verif/tb/reports.h"

namespace systole::tb {

class RemoteChips : public Chips {
 public:
  // Errors are those of Job::Start, and those of the processes as they make
  // their chips.
  static absl::StatusOr<std::unique_ptr<Chips>> Create(
      const ChipsOptions& options);

  absl::StatusOr<Outcome> Serve(const ChipRequest& request) override;
  ObservedCore& core(int chip) override;
  absl::Status Flip(int chip, int core, uint64_t addr, int bit) override;
  absl::Status CheckMemory(int chip) override;
  absl::Status RecordLayer(int chip, const LayerPlan& plan) override;
  void SetCallbacks(int chip, int core, ClockedChip::OnRetire on_retire,
                    std::function<void(uint64_t)> on_progress) override;
  double cpu_seconds() const override { return cpu_seconds_; }

 private:
  class Core;
  struct Answer {
    Outcome outcome = Outcome::kDone;
    std::string data;
  };
  RemoteChips(const ChipsOptions& options, std::unique_ptr<Job> job);
  // Sends a message and waits for its answer.
  absl::StatusOr<Answer> Call(MessageKind kind, const Packer& packer);
  absl::Status Tell(MessageKind kind, const Packer& packer) {
    return Call(kind, packer).status();
  }

  std::mutex mutex_;
  std::unique_ptr<Job> job_;
  absl::Status lost_;  // once the processes have ended
  double cpu_seconds_ = 0;
  // One element per chip.
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<ReportTargets> targets_;
  std::vector<std::array<std::function<void(uint64_t)>, kMaxCores>>
      on_progress_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_REMOTE_CHIPS_H_
