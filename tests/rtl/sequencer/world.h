// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the bench of the program control is told, and what it found.
#ifndef SYSTOLE_TESTS_RTL_SEQUENCER_WORLD_H_
#define SYSTOLE_TESTS_RTL_SEQUENCER_WORLD_H_

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "systole/gen/isa.h"

namespace systole::sequencer_test {

// How the world around behaves. Rates are in 1/256 a cycle.
struct World {
  uint64_t prog_addr = 0x1000;
  std::optional<uint32_t> prog_len;  // otherwise the program's
  uint64_t hbm_end = uint64_t{1} << 36;
  uint32_t watchdog = 0;
  int stall = 0;             // random stalls
  int stall_streams = 127;   // of these: dispatch, then the queues
  int latency = 40;          // of the memory
  int hold_read = 0;         // the memory refuses
  int hold_start = 0;        // a unit refuses
  uint64_t first_cycle = 0;  // of the core's counter
  int work = 20;      // cycles of a descriptor, at most, beyond the least
  int in_flight = 4;  // descriptors a unit takes
  int64_t limit = 200000;
  int freeze_at = -1;
  int mutant = 0;
  // A unit's fault: from that cycle on, when it has started that many
  // descriptors and one is in flight.
  struct UnitFault {
    int queue;
    int started;
    int64_t cycle;
    bool newest;
    isa::Fault code;
    uint64_t addr;
    bool with_done = false;  // in a cycle in which an older one is done
  };
  std::vector<UnitFault> unit_faults;
  int least_work = 2;  // cycles of a descriptor, at least
  int last_work = 0;   // more, of the last one before the halt
  // Called before that cycle; what the bench finds then ends no run.
  int64_t turn_at = -1;
  std::function<void()> turn;
  // Of a chip with a scalar unit, another core and links (chip.h).
  bool issue = false;      // the descriptors come from the issue port
  bool isolated = false;   // no flags between cores, no sends
  bool keep_peer = false;  // flags that others post live through the reset
  int hold_issue = 0;      // the port has nothing
  int hold_peer = 100;     // a post to the other core does not leave
  int hold_scalar = 200;   // the scalar unit neither posts nor wants
  uint32_t scalar_post = 0, scalar_want = 0;  // masks
  int scalar_posts = 0, scalar_wants = 0;     // so often
  uint32_t peer_posts = 0;   // flags that the other core posts by itself, or
  int peer_times = 1;        // packets, so often
  uint32_t reset_posts = 0;  // likewise, in each of a reset's three cycles
  // Posts of packets to each link flag, at random times.
  std::array<int, isa::kNumLinkFlags> link_posts = {};
  int hold_link = 100;  // none comes
};

// Of a core alone, and of one in a chip.
inline World RandomWorld(std::mt19937_64& random) {
  World w;
  const auto rate = [&random] {
    return random() % 2 ? static_cast<int>(random() % 200) : 0;
  };
  w.prog_addr = random() % 1000 * 128;
  w.stall = rate();
  w.hold_read = rate();
  w.hold_start = rate();
  w.latency = static_cast<int>(random() % 100);
  w.work = static_cast<int>(random() % 40);
  w.first_cycle = random();
  w.in_flight = 1 + static_cast<int>(random() % 8);
  return w;
}

inline World ChipWorld(std::mt19937_64& random) {
  World w = RandomWorld(random);
  const auto rate = [&random] {
    return random() % 2 ? static_cast<int>(random() % 200) : 0;
  };
  w.hold_issue = rate();
  w.hold_peer = rate();
  w.issue = random() % 2;
  if (w.issue) w.prog_len = random() % 20;  // not looked at
  return w;
}

struct FaultSeen {
  isa::Fault code = isa::Fault::kNone;
  int queue = -1;
  uint32_t pc = 0;
  uint64_t addr = 0;
  int64_t cycle = 0;
};

struct Outcome {
  bool done = false;
  std::optional<FaultSeen> fault;
  int64_t cycles = 0;
  int64_t last_event = 0;  // start or retirement
  int64_t dispatch_stalls = 0;
  std::vector<uint32_t>
      fault_indices;  // descriptors that the planted unit faults concern
  std::vector<std::string> errors;
};

}  // namespace systole::sequencer_test

#endif  // SYSTOLE_TESTS_RTL_SEQUENCER_WORLD_H_
