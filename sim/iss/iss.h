// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Instruction-set simulator: one descriptor after the other in program order,
// which rule 1 of docs/isa.md makes a legal order. Descriptors come from HBM,
// as the core fetches them.
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
    uint32_t prog_len = 0;  // descriptors
    uint64_t hbm_limit = 0;
    bool check_races = false;
    std::vector<Loop> loops = {};
    std::vector<systole::Step> steps = {};
  };
  // kWaiting: the next descriptor waits for flags that the other core may post.
  enum class Event { kRetired, kHalted, kFaulted, kWaiting };

  Iss(const Preset& preset, uint64_t seed)
      : seed_(seed), state_(preset, seed) {}
  // The second core of the chip: joins their memories and flags. The cores
  // outlive each other but for their destruction.
  void Join(Iss* second);

  // Clears flags, weight FIFO, the array's tile, counters and acc_saturated, as
  // the core's start does.
  void Start(const Launch& launch);
  // Executes the next descriptor. After a halt or a fault it does nothing and
  // says so again.
  Event Step();
  // Of a core that waits: the other one will post nothing any more.
  Event GiveUp();
  bool running() const { return !halted_ && !fault_; }

  // After an access of the memory: whether it met what ECC cannot correct,
  // which is a fault.
  bool CheckMemory();

  // Clears a fault; memories keep their data.
  void Reset();

  State& state() { return state_; }
  const State& state() const { return state_; }
  // Descriptors that are complete, each pass of a loop counted.
  uint32_t index() const { return instance_; }
  // Of the last one that was complete: where it stands in the program.
  uint32_t last() const { return last_; }
  const std::optional<FaultState>& fault() const { return fault_; }
  // What the fault means, where the registers do not say it all: "flag 3 is 0
  // and ...". May be empty.
  const std::string& fault_detail() const { return fault_detail_; }
  // Rules 2 to 4, if check_races was asked for.
  const RaceReport* races() const {
    return checker_ ? &checker_->report() : nullptr;
  }

 private:
  // Goes on at ends and begins of loops; an event: a condition faults.
  std::optional<Event> FollowLoops();
  // Whether loop l has another pass. kFaulted: nobody posts its flag.
  enum class Pass { kRuns, kEnds, kFaults };
  Pass NextPass(uint32_t l);
  // Reads the next descriptor, as it is in this pass.
  Result Fetch(isa::Descriptor* d);
  Event Fault(const Trap& trap, uint32_t queue, uint32_t index,
              std::string detail = "");
  Event Retire(isa::Queue queue, const isa::Descriptor& d);
  // Of a post or a wait of this flag: whether it goes to the other core.
  bool BetweenCores(uint32_t flag) const {
    return state_.preset.chip.cores > 1 &&
           flag >= static_cast<uint32_t>(isa::kFirstPeerFlag);
  }
  void ClearFlags(bool all);

  uint64_t seed_;  // of what memories and registers hold undefined
  State state_;
  Launch launch_;
  uint32_t index_ = 0;     // of the next descriptor; all before it are complete
  uint32_t instance_ = 0;  // how many that are
  uint32_t last_ = 0;
  std::vector<uint32_t> passes_;  // of each loop
  std::vector<uint32_t> open_;    // loops around the next descriptor
  uint32_t next_loop_ = 0;        // the first that begins at or behind it
  bool halted_ = true;
  std::optional<FaultState> fault_;
  std::string fault_detail_;
  std::unique_ptr<RaceChecker> checker_;
  std::shared_ptr<ChipShadow> shadow_;  // with the checker
  uint32_t awaited_ = 0;                // flag, while it waits
  int core_ = 0;
  Iss* other_ = nullptr;  // core of the chip
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_ISS_H_
