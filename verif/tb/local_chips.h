// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The chips of a torus in this process, on one or more of its threads.

#ifndef SYSTOLE_VERIF_TB_LOCAL_CHIPS_H_
#define SYSTOLE_VERIF_TB_LOCAL_CHIPS_H_

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "verif/tb/chips.h"
#include "verif/tb/windows.h"

namespace systole::tb {

class LocalChips : public Chips {
 public:
  static absl::StatusOr<std::unique_ptr<Chips>> Create(
      const ChipsOptions& options, const Preset& preset);

  absl::StatusOr<Outcome> Serve(const ChipRequest& request) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return windows_.Serve(request);
  }
  ObservedCore& core(int chip) override { return windows_.chip(chip)->core(); }
  absl::Status Flip(int chip, int core, uint64_t addr, int bit) override {
    return FlipBit(*memories_[chip], core, addr, bit);
  }
  absl::Status CheckMemory(int chip) override {
    return memories_[chip]->Check();
  }
  absl::Status RecordLayer(int chip, const LayerPlan& plan) override {
    windows_.chip(chip)->RecordLayer(plan);
    return absl::OkStatus();
  }
  void SetCallbacks(int chip, int core, ClockedChip::OnRetire on_retire,
                    std::function<void(uint64_t)> on_progress) override {
    windows_.chip(chip)->on_retire[core] = std::move(on_retire);
    on_progress_[chip][core] = std::move(on_progress);
  }

 private:
  LocalChips(const ChipsOptions& options, const Preset& preset,
             std::vector<std::unique_ptr<MemoryModel>> memories,
             std::vector<std::unique_ptr<ClockedChip>> chips);

  std::mutex mutex_;
  std::vector<std::unique_ptr<MemoryModel>> memories_;
  Windows windows_;
  std::vector<std::array<std::function<void(uint64_t)>, kMaxCores>>
      on_progress_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_LOCAL_CHIPS_H_
