// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Runs the chips of a torus in windows of the wires' latency. What a chip sends
// in a window arrives in the next one, so within a window no chip depends on
// another, and threads or processes may run them in any order. The host's
// request ends its chip's window early; the host then acts, and the chip runs
// the rest of the window before the others begin the next one.
//
//   Windows windows(options, preset, std::move(chips), nullptr);
//   Outcome outcome = windows.Serve(request);
//
// Where several processes have the chips, each has a Windows of its own. All of
// them serve the same requests, and know of all chips what is in ChipState.

#ifndef SYSTOLE_VERIF_TB_WINDOWS_H_
#define SYSTOLE_VERIF_TB_WINDOWS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "verif/tb/chips.h"
#include "verif/tb/follower.h"
#include "verif/tb/wires.h"

namespace systole::tb {

struct ChipState {
  uint64_t cycles = 0;  // as CoreModel::cycles
  bool answered = false;
  bool refused = false;  // as Outcome: kRefused or kNoInterrupt
  bool failed = false;
  bool pending = false;  // its process has reports for the host
  std::array<bool, kMaxCores> irq{};
};

class Windows {
 public:
  // The chips that other processes have.
  class Others {
   public:
    virtual ~Others() = default;
    // The chips `due` have run from cycle `from` on, those of this process to
    // their ChipState::cycles. Sets the states of the others, and what they
    // have sent (Wires::Sent).
    virtual void Exchange(uint64_t from, const std::vector<int>& due) = 0;
  };

  // chips: null are those of other processes. others: null without any.
  Windows(const ChipsOptions& options, const Preset& preset,
          std::vector<std::unique_ptr<ClockedChip>> chips, Others* others);

  // Runs all chips until the request is answered. `data` of a request matters
  // only where its chip is.
  Outcome Serve(const ChipRequest& request);

  // Null in another process.
  ClockedChip* chip(int chip) { return chips_[chip].get(); }
  int chips() const { return static_cast<int>(chips_.size()); }
  ChipState& state(int chip) { return states_[chip]; }
  Wires& wires() { return wires_; }
  // Called about every 1,024 clocks of each chip of this process.
  std::function<void(int chip, uint64_t cycle)> on_progress;

 private:
  bool AnyFailed() const;
  void Begin(const ChipRequest& request);
  void End(const ChipRequest& request);
  void Round(const ChipRequest& request);
  void RunDue();
  // Of a chip of this process that has run.
  void Update(int chip, const ChipRequest& request);

  Wires wires_;
  std::vector<std::unique_ptr<ClockedChip>> chips_;
  std::vector<ChipState> states_;
  Others* others_;
  // Chips that run in a round: all, and those of this process.
  std::vector<int> due_, own_due_;
  std::atomic<size_t> taken_{0};
  std::vector<std::unique_ptr<Follower>> followers_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_WINDOWS_H_
