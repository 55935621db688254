// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Proves that the order in which the units run cannot change a result: rules 2,
// 3 and 4 of docs/isa.md. (Serial execution checks rule 1.) It also collects
// violations of the rules of docs/vpu.md by vector programs. Programs that run
// on the cores of a device at the same time have one checker each and share a
// DeviceShadow: posts between cores order their memory accesses. Method:
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

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "sim/iss/footprint.h"
#include "sim/iss/shadow.h"
#include "sim/iss/state.h"
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

// "HBM bytes 0x40..0x7f"
std::string SpaceRange(Space space, const Range& r);

// For each queue of a device: how many of its descriptors are known to be
// complete; for each flow of packets: how many of its sends have arrived. A
// flow is what a core sends to another one around a ring in one direction.
using Clock = absl::InlinedVector<uint32_t, 2 * isa::kNumQueues + 8>;

// A sync flag, with the posts that are not taken yet.
struct Channel {
  int poster = -1, waiter = -1;  // queues
  uint32_t first_post = 0, first_wait = 0;
  bool broken = false;  // rule 2 is violated
  std::deque<Clock> messages;
};

// State shared by the cores of a device: their memories, one after the other,
// and the flags that they post to each other. Cores are numbered as in Network.
struct DeviceShadow {
  explicit DeviceShadow(int number)
      : cores(number),
        ended(number, Clock(size())),
        sent(number * number * 2),
        channels(number),
        memory(number * isa::kNumQueues) {}
  // Queues, then flows.
  size_t size() const {
    return cores.size() * isa::kNumQueues + 2 * cores.size() * cores.size();
  }

  std::vector<RaceChecker*> cores;  // running now, or ran last
  std::vector<Clock> ended;         // known at the end of the last program
  std::vector<uint32_t> sent;       // of each flow
  std::vector<std::array<Channel, isa::kNumFlags - isa::kFirstLinkFlag>>
      channels;  // by the core that waits
  Shadow memory;
  std::set<std::tuple<uint16_t, uint32_t, uint16_t, uint32_t>>
      pairs;  // reported
};

class RaceChecker {
 public:
  // Checks a program of core `core` and adds its accesses to the device's
  // shadow. network: of that device; null without links.
  RaceChecker(const Preset& preset, uint64_t prog_addr, uint32_t prog_len,
              int core, std::shared_ptr<DeviceShadow> device,
              const Network* network);
  ~RaceChecker();

  // Adds the next descriptor in program order, after it was executed without a
  // fault. vrun, dma_rows: those of the simulator's state.
  void Execute(uint32_t index, const isa::Descriptor& descriptor,
               const VrunLog& vrun, const std::vector<uint64_t>& dma_rows);
  // Adds a loop's condition: the scalar unit takes the flag and reads the word.
  // It comes after everything executed so far and before what follows.
  void Test(uint32_t flag, const Range& word);
  const RaceReport& report() const { return report_; }

 private:
  struct QueueState {
    uint32_t count = 0;
    Clock start;  // known at the start of the last one
    Clock done;   // known at the end of the last one
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
  void Touch(const Access& self, const Footprint& f, const Clock& start);
  void Conflict(Space space, const Range& range, const Access& earlier,
                bool earlier_writes, const Access& self, bool self_writes,
                const Clock& start);
  // That no sequencer fetches what is written, in the device's memories.
  void CheckPrograms(const Access& self, const Ranges& writes);
  void CheckHalt(uint32_t index);

  void Add(Finding finding);
  std::string Show(uint32_t index) const;

  // Adds what a send writes, and its post.
  void Deliver(const Access& self, const isa::Send& send, const Ranges& sent,
               const Clock& start, const Clock& done);
  void PostTo(Channel& channel, int flag, const Access& self,
              const Clock& done);

  bool OfOthers(int flag) const {
    return (preset_.chip.cores > 1 && flag >= isa::kFirstPeerFlag) ||
           (preset_.chip.link_bytes != 0 && flag >= isa::kFirstLinkFlag);
  }
  // The channel of a flag that this core waits for, or posts to.
  Channel& Waited(int flag);
  Channel& Posted(int flag);
  // Ranges of the device's memories; a range that crosses into the memory of
  // the chip's other core is split.
  Ranges OfDevice(const Ranges& ranges) const;
  int OfDevice(isa::Queue queue) const {
    return core_ * isa::kNumQueues + static_cast<int>(queue);
  }
  // The core whose queue or flow it is.
  int CoreOf(int queue) const;
  std::string ShowAccess(const Access& access) const;

  const Preset& preset_;
  const int core_;
  const std::shared_ptr<DeviceShadow> device_;
  const Network* const network_;
  Range program_;  // bytes of HBM that the sequencer reads
  std::vector<isa::Descriptor> descriptors_;
  std::array<QueueState, isa::kNumQueues> queues_;
  std::array<Channel, isa::kNumFlags> channels_;
  std::deque<Push> pushes_;
  uint64_t pushed_ = 0, taken_ = 0;
  // Of the unified buffer and the accumulators; memory: the device's.
  std::array<Shadow, 2> shadows_;
  std::set<std::tuple<uint32_t, uint32_t, Space>> pairs_;  // reported
  RaceReport report_;
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_RACE_CHECKER_H_
