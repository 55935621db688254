// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Proves that the order in which units happen to run cannot change a result:
// rules 2, 3 and 4 of docs/isa.md. (Rule 1 is checked by executing serially.)
// Collects what vector programs did against the rules of docs/vpu.md.
// Programs that run on the cores of a chip at the same time have a checker each
// and one ChipShadow: what they do in memory is ordered by posts between cores.
// How: docs/iss.md.
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
  uint32_t first, second;  // descriptors; equal when there is only one
  Space space = Space::kUb;
  Range range = {0, 0};  // bytes or rows, of a race
  std::string text;      // both descriptors, disassembled
};

struct RaceReport {
  static constexpr size_t kKept = 16;
  std::vector<Finding> findings;  // the first ones
  uint64_t count = 0;  // all; a pair of descriptors counts once a space
  // Reads of unified buffer bytes and accumulator rows that the program did not
  // write: legal, often a mistake.
  uint64_t unwritten_bytes = 0, unwritten_rows = 0;

  // kFailedPrecondition with the findings' text, if there are any.
  absl::Status ToStatus() const;
};

class RaceChecker;

// How many descriptors of each queue of a chip are known to be complete.
using Clock = std::array<uint32_t, kMaxQueues>;

// A sync flag: its posts that are not yet taken.
struct Channel {
  int poster = -1, waiter = -1;  // queues
  uint32_t first_post = 0, first_wait = 0;
  bool broken = false;  // rule 2
  std::deque<Clock> messages;
};

// What the cores of a chip share: their memories, in core 0's order, and the
// flags that they post to each other.
struct ChipShadow {
  std::array<RaceChecker*, 2> cores = {};  // that run now or ran last
  std::array<Clock, 2> ended = {};         // of programs before those
  std::array<std::array<Channel, isa::kNumFlags - isa::kFirstPeerFlag>, 2>
      channels;  // of the core that waits
  Shadow memory;
  std::set<std::tuple<uint8_t, uint32_t, uint8_t, uint32_t>> pairs;  // reported
};

class RaceChecker {
 public:
  // Of a program of that core; what it does is added to the chip's shadow.
  RaceChecker(const Preset& preset, uint64_t prog_addr, uint32_t prog_len,
              int core, std::shared_ptr<ChipShadow> chip);
  ~RaceChecker();

  // The next descriptor in program order, after it was executed without a
  // fault. `vrun` is the log of the last vrun.
  void Execute(uint32_t index, const isa::Descriptor& descriptor,
               const VrunLog& vrun);
  // A loop's condition, after what was executed and before what follows: the
  // scalar unit takes the flag and reads the word.
  void Test(uint32_t flag, const Range& word);
  const RaceReport& report() const { return report_; }

 private:
  struct QueueState {
    uint32_t count = 0;
    Clock start = {};  // known when the last one started
    Clock done = {};   // known when the last one is complete
  };
  struct Push {  // a weights descriptor whose tiles are not all taken
    Access access;
    uint64_t first_tile, end_tile;
    Clock done;
  };

  void Wait(const Access& self, uint32_t mask, Clock* start);
  void Post(const Access& self, uint32_t mask, const Clock& done);
  void PushTiles(const Access& self, uint64_t tiles, const Clock& done);
  // Adds to `done` what the taken tiles tell.
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

  // Of a flag that this core waits for, or posts to.
  Channel& Waited(int flag);
  Channel& Posted(int flag);
  // In core 0's order; a range that crosses into the other memory in pieces.
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
  std::array<Shadow, kNumSpaces> shadows_;                 // HBM's: of the chip
  std::set<std::tuple<uint32_t, uint32_t, Space>> pairs_;  // reported
  RaceReport report_;
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_RACE_CHECKER_H_
