// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Instruction-set simulator. It executes one descriptor after the other in
// program order, which is a legal order by rule 1 of docs/isa.md. It fetches
// descriptors from HBM, as the core does.
//
//   Iss iss(*FindPreset("edge"), /*seed=*/1);
//   iss.state().hbm.Write(address, bytes);
//   iss.Start({.prog_addr = 0x1000, .prog_len = 12, .hbm_limit = 0x100000});
//   while (iss.Step() == Iss::Event::kRetired) {
//     Compare(iss.state().ub, ...);  // after every descriptor
//   }
//   if (iss.fault()) ...
#ifndef SYSTOLE_SIM_ISS_ISS_H_
#define SYSTOLE_SIM_ISS_ISS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/iss/execute.h"
#include "sim/iss/race_checker.h"
#include "sim/iss/state.h"
#include "systole/device.h"

namespace systole::iss {

class Iss {
 public:
  struct Launch {
    uint64_t prog_addr = 0;
    uint32_t prog_len = 0;  // in descriptors
    uint64_t hbm_limit = 0;
    bool check_races = false;
    std::vector<Loop> loops = {};
    std::vector<systole::Step> steps = {};
  };
  // kWaiting: the next descriptor waits for flags that other cores may still
  // post.
  enum class Event { kRetired, kHalted, kFaulted, kWaiting };

  Iss(const Preset& preset, uint64_t seed)
      : seed_(seed), state_(preset, seed) {}
  // Adds the second core of the chip: the cores share memories and flags. Each
  // core must outlive all use of the other.
  void Join(Iss* second);
  // Joins the cores of the chips of a device, row by row of its torus. All must
  // outlive all use of each.
  static void Connect(int columns, int rows, const std::vector<Iss*>& cores);

  // Clears flags, weight FIFO, the array's tile, counters and acc_saturated, as
  // a start of the core does.
  void Start(const Launch& launch);
  // Executes the next descriptor. After a halt or a fault it does nothing and
  // returns the same event again.
  Event Step();
  // For a core that waits: no other core will post any more.
  Event GiveUp();
  bool running() const { return !halted_ && !fault_; }

  // Call after a memory access by the host: whether it hit an error that ECC
  // cannot correct, which is a fault.
  bool CheckMemory();

  // Clears a fault; memories keep their data.
  void Reset();

  State& state() { return state_; }
  const State& state() const { return state_; }
  // Number of completed descriptors; each pass of a loop counts.
  uint32_t index() const { return instance_; }
  // Index in the program of the last completed descriptor.
  uint32_t last() const { return last_; }
  const std::optional<FaultState>& fault() const { return fault_; }
  // Explains a fault where the registers do not say everything: "flag 3 is 0
  // and ...". May be empty.
  const std::string& fault_detail() const { return fault_detail_; }
  // Findings for rules 2 to 4, if check_races was set.
  const RaceReport* races() const {
    return checker_ ? &checker_->report() : nullptr;
  }

 private:
  // Handles loop ends and starts. Returns an event if a loop condition faults.
  std::optional<Event> FollowLoops();
  // Whether loop l has another pass. kFaults: nobody posts its flag.
  enum class Pass { kRuns, kEnds, kFaults };
  Pass NextPass(uint32_t l);
  // Reads the next descriptor, with the values of this pass.
  Result Fetch(isa::Descriptor* d);
  Event Fault(const Trap& trap, uint32_t queue, uint32_t index,
              std::string detail = "");
  Event Retire(isa::Queue queue, const isa::Descriptor& d);
  // Whether posts and waits of this flag are between the cores of the chip.
  bool BetweenCores(uint32_t flag) const {
    return state_.preset.chip.cores > 1 &&
           flag >= static_cast<uint32_t>(isa::kFirstPeerFlag);
  }
  // Whether only packets post this flag.
  bool OfLinks(uint32_t flag) const {
    return state_.preset.chip.link_bytes != 0 &&
           flag >= static_cast<uint32_t>(isa::kFirstLinkFlag) &&
           flag < static_cast<uint32_t>(isa::kFirstPeerFlag);
  }
  // Whether other cores post it, also between this core's programs.
  bool OfOthers(uint32_t flag) const {
    return BetweenCores(flag) || OfLinks(flag);
  }
  // Adds 1 to a flag that another core posts.
  void Receive(uint32_t flag);
  void ClearFlags(bool all);

  uint64_t seed_;  // seed of the undefined contents of memories and registers
  State state_;
  Launch launch_;
  uint32_t index_ = 0;     // next descriptor; all before it are complete
  uint32_t instance_ = 0;  // number of completed descriptors
  uint32_t last_ = 0;
  std::vector<uint32_t> passes_;  // pass of each loop
  std::vector<uint32_t> open_;    // loops around the next descriptor
  uint32_t next_loop_ = 0;        // first loop that starts at or after it
  bool halted_ = true;
  std::optional<FaultState> fault_;
  std::string fault_detail_;
  std::unique_ptr<RaceChecker> checker_;
  std::shared_ptr<DeviceShadow> shadow_;  // used with the checker
  uint32_t awaited_ = 0;                  // flag that the core waits for
  int core_ = 0;                          // number in the device
  Iss* other_ = nullptr;                  // other core of the chip
  std::vector<Iss*> cores_;               // of the device, as in state_.network
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_ISS_H_
