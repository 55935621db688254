// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Proves that the order in which the units run cannot change a result: rules 2,
// 3 and 4 of docs/isa.md. (Serial execution checks rule 1.) It also collects
// violations of the rules of docs/vpu.md by vector programs. Programs that run
// on the cores of a chip at the same time have one checker each and share a
// ChipShadow: posts between cores order their memory accesses. Method:
// docs/iss.md.
#ifndef SYSTOLE_SIM_ISS_RACE_CHECKER_H_
#define SYSTOLE_SIM_ISS_RACE_CHECKER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "sim/iss/footprint.h"
#include "sim/iss/shadow.h"
#include "sim/iss/vpu_state.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::iss {

struct Finding {
  int rule;  // of docs/isa.md; 5: a rule of docs/vpu.md for vector programs
  uint32_t first, second;  // descriptors; equal if there is only one
  Space space = Space::kUb;
  Range range = {0, 0};  // bytes or rows with a race
  std::string text;      // both descriptors, disassembled
};

struct RaceReport {
  static constexpr size_t kKept = 16;
  std::vector<Finding> findings;  // the first ones
  // All findings; a pair of descriptors counts once per space.
  uint64_t count = 0;
  // Reads of unified buffer bytes and accumulator rows that the program did not
  // write. This is legal, but often a mistake.
  uint64_t unwritten_bytes = 0, unwritten_rows = 0;

  // kFailedPrecondition with the text of the findings, if there are any.
  absl::Status ToStatus() const;
};

class RaceChecker;

// For each queue of a chip: how many of its descriptors are known to be
// complete.
using Clock = std::array<uint32_t, kMaxQueues>;

// A sync flag, with the posts that are not taken yet.
struct Channel {
  int poster = -1, waiter = -1;  // queues
  uint32_t first_post = 0, first_wait = 0;
  bool broken = false;  // rule 2 is violated
  std::deque<Clock> messages;
};

// State shared by the cores of a chip: their memories, in core 0's order, and
// the flags that they post to each other.
struct ChipShadow {
  std::array<RaceChecker*, 2> cores = {};  // running now, or ran last
  std::array<Clock, 2> ended = {};         // earlier programs
  std::array<std::array<Channel, isa::kNumFlags - isa::kFirstPeerFlag>, 2>
      channels;  // by the core that waits
  Shadow memory;
  std::set<std::tuple<uint8_t, uint32_t, uint8_t, uint32_t>> pairs;  // reported
};

class RaceChecker {
 public:
  // Checks a program of core `core` and adds its accesses to the chip's shadow.
  RaceChecker(const Preset& preset, uint64_t prog_addr, uint32_t prog_len,
              int core, std::shared_ptr<ChipShadow> chip);
  ~RaceChecker();

  // Adds the next descriptor in program order, after it was executed without a
  // fault. `vrun` is the log of the last vrun.
  void Execute(uint32_t index, const isa::Descriptor& descriptor,
               const VrunLog& vrun);
  // Adds a loop's condition: the scalar unit takes the flag and reads the word.
  // It comes after everything executed so far and before what follows.
  void Test(uint32_t flag, const Range& word);
  const RaceReport& report() const { return report_; }

 private:
  struct QueueState {
    uint32_t count = 0;
    Clock start = {};  // known at the start of the last one
    Clock done = {};   // known at the end of the last one
  };
  struct Push {  // a weights descriptor with tiles that are not taken yet
    Access access;
    uint64_t first_tile, end_tile;
    Clock done;
  };

  void Wait(const Access& self, uint32_t mask, Clock* start);
  void Post(const Access& self, uint32_t mask, const Clock& done);
  void PushTiles(const Access& self, uint64_t tiles, const Clock& done);
  // Adds to `done` what the taken tiles imply.
  void TakeTiles(const Access& self, uint64_t tiles, const Clock& start,
                 Clock* done);
  void Touch(const Access& self, const isa::Descriptor& descriptor,
             const VrunLog& vrun, const Clock& start);
  void Conflict(Space space, const Range& range, const Access& earlier,
                bool earlier_writes, const Access& self, bool self_writes,
                const Clock& start);
  void CheckHalt(uint32_t index);

  void Add(Finding finding);
  std::string Show(uint32_t index) const;

  // The channel of a flag that this core waits for, or posts to.
  Channel& Waited(int flag);
  Channel& Posted(int flag);
  // Ranges in core 0's order; a range that crosses into the other memory is
  // split.
  Ranges OfChip(const Ranges& ranges) const;
  int OfChip(isa::Queue queue) const {
    return core_ * isa::kNumQueues + static_cast<int>(queue);
  }
  std::string ShowAccess(const Access& access) const;

  const Preset& preset_;
  const int core_;
  const std::shared_ptr<ChipShadow> chip_;
  Range program_;  // bytes of HBM that the sequencer reads
  std::vector<isa::Descriptor> descriptors_;
  std::array<QueueState, isa::kNumQueues> queues_;
  std::array<Channel, isa::kNumFlags> channels_;
  std::deque<Push> pushes_;
  uint64_t pushed_ = 0, taken_ = 0;
  // For HBM: of the chip.
  std::array<Shadow, kNumSpaces> shadows_;
  std::set<std::tuple<uint32_t, uint32_t, Space>> pairs_;  // reported
  RaceReport report_;
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_RACE_CHECKER_H_
