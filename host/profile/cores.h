// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The programs of several cores that links join (host/runtime/board.h), on one
// axis of cycles. Their programs start in sets, the rounds. A program begins
// with its round. In a round with exchanges, in which cores wait for each
// other, it begins as much later as it was started after the first one.
//
//   CoresRecorder recorder(8, preset);
//   client_options.listeners = recorder.listeners();
//   client_options.device.simulation.probes = recorder.probes();
//   ... a run ...
//   const auto joined = recorder.Join();
#ifndef SYSTOLE_HOST_PROFILE_CORES_H_
#define SYSTOLE_HOST_PROFILE_CORES_H_

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/status/statusor.h"
#include "host/profile/join.h"
#include "host/profile/module_recorder.h"
#include "systole/device.h"

namespace systole::profile {

// A set of programs that started together.
struct Round {
  uint64_t first = 0, cycles = 0;
  bool exchanges = false;  // a program exchanges values with other cores
};

// Of each layer of a program, whether it exchanges values with other cores: it
// sends, or posts or waits for flags between cores.
std::vector<bool> CollectivesOf(const Program& program);

// What a chip sent over a link to another one.
struct LinkTraffic {
  int chip = 0, link = 0;  // X+, X-, Y+, Y-
  // Bytes of payload in periods of ProbeSink::kLinkCycles; a packet counts when
  // the other chip has it.
  std::vector<uint32_t> bytes;
  LinkCounts counts;  // of all rounds
};
// The most bytes of so many cycles in a row, which are some packets' time.
inline constexpr uint64_t kBusyCycles = 4 * ProbeSink::kLinkCycles;
uint64_t BusiestOf(const LinkTraffic& traffic);

struct JoinedCores {
  Torus torus;
  std::vector<Joined> cores;  // all of the same number of cycles
  std::vector<std::vector<bool>> collectives;  // by core: CollectivesOf
  std::vector<Round> rounds;
  std::vector<LinkTraffic> links;
  uint64_t cycles = 0;
};

class CoresRecorder {
 public:
  // cores: the first ones of as many chips as they need.
  CoresRecorder(int cores, const Preset& preset);

  std::vector<runtime::CoreListener*> listeners();
  std::vector<ProbeSink*> probes();

  // Forgets the run before. Not while one is under way.
  void Begin();
  // kInternal: a recording does not agree with the RTL's
  // counters, or what chips sent is not what their neighbours received.
  absl::StatusOr<JoinedCores> Join();
  // Programs of all cores that were run, and that were recorded.
  size_t started() const;
  size_t recorded() const { return recorded_; }
  // Of them, in their order, what Join joined of a core.
  ModuleRecorder& of_core(size_t core) { return recorders_[core]; }
  // Sums over the recorded programs.
  const RunStats& stats() const { return stats_; }

 private:
  // origins: of each round, its first cycle as one of the device.
  void AddLinks(int chip, const std::vector<uint64_t>& origins,
                JoinedCores& joined) const;

  const Preset& preset_;
  std::deque<ModuleRecorder> recorders_;  // by core
  size_t recorded_ = 0;
  RunStats stats_;
};

// kInternal: what a chip sent over a link is not what its neighbour received.
absl::Status CheckLinks(const JoinedCores& joined);

// Cycles of a core in which its collectives are under way: a descriptor of one
// is at work, or a unit waits for another core.
struct ExchangeCycles {
  uint64_t all = 0;
  uint64_t alone = 0;  // of them: no descriptor of a kernel is at work
};
ExchangeCycles ExchangesOf(const JoinedCores& joined, size_t core);
// Sums over all cores.
ExchangeCycles ExchangesOf(const JoinedCores& joined);

// All cores' layers of one name, operation and shape as one.
struct MergedCores {
  Program program;                            // layers
  Analysis analysis;                          // sums over the cores
  std::vector<std::vector<uint64_t>> cycles;  // by layer, by core
};
MergedCores Merge(const JoinedCores& joined);

}  // namespace systole::profile

#endif  // SYSTOLE_HOST_PROFILE_CORES_H_
