// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Proves that the order in which units happen to run cannot change a result:
// rules 2, 3 and 4 of docs/isa.md. (Rule 1 is checked by executing serially.)
// Collects what vector programs did against the rules of docs/vpu.md.
// How: docs/iss.md.
#ifndef SYSTOLE_SIM_ISS_RACE_CHECKER_H_
#define SYSTOLE_SIM_ISS_RACE_CHECKER_H_

#include <array>
#include <cstdint>
#include <deque>
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

class RaceChecker {
 public:
  RaceChecker(const Preset& preset, uint64_t prog_addr, uint32_t prog_len);

  // The next descriptor in program order, after it was executed without a
  // fault. `vrun` is the log of the last vrun.
  void Execute(uint32_t index, const isa::Descriptor& descriptor,
               const VrunLog& vrun);
  const RaceReport& report() const { return report_; }

 private:
  // How many descriptors of each queue are known to be complete.
  using Clock = std::array<uint32_t, isa::kNumQueues>;
  struct QueueState {
    uint32_t count = 0;
    Clock start = {};  // known when the last one started
    Clock done = {};   // known when the last one is complete
  };
  struct Channel {
    int poster = -1, waiter = -1;  // queues
    uint32_t first_post = 0, first_wait = 0;
    bool broken = false;         // rule 2
    std::deque<Clock> messages;  // posts not yet taken
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

  const Preset& preset_;
  Range program_;  // bytes of HBM that the sequencer reads
  std::vector<isa::Descriptor> descriptors_;
  std::array<QueueState, isa::kNumQueues> queues_;
  std::array<Channel, isa::kNumFlags> channels_;
  std::deque<Push> pushes_;
  uint64_t pushed_ = 0, taken_ = 0;
  std::array<Shadow, kNumSpaces> shadows_;
  std::set<std::tuple<uint32_t, uint32_t, Space>> pairs_;  // reported
  RaceReport report_;
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_RACE_CHECKER_H_
