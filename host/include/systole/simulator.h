// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What a simulated core can do that a board cannot: turn bits of its memory,
// replay a program and record its waveform. The device stays the same for both.
//
//   DeviceOptions options;
//   options.simulation.snapshots = 1;
//   auto device = Device::Open("rtl", options);
//   Simulator* simulator = (*device)->simulator();  // null: a board
//   absl::StatusOr<Waveform> waveform = simulator->Replay({.file = "run.fst"});
#ifndef SYSTOLE_SIMULATOR_H_
#define SYSTOLE_SIMULATOR_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "systole/cable.h"
#include "systole/probe.h"

namespace systole {

// What of a program a waveform shows (rtl).
struct TraceOptions {
  std::string file;  // FST; empty: none. Views of it go beside (docs/waves.md)
  int run = 0;       // the program, of those started since Open
  std::string
      layer;  // its name, or its number from 0; empty: the whole program
  uint64_t from = 0;  // cycles since the program's start, `to` exclusive; of a
  uint64_t to = std::numeric_limits<uint64_t>::max();  // layer: not looked at
  std::optional<uint64_t>
      mark;  // the cycle that it is all about, for the views
  // SimulationOptions::trace, of several cores as Device::OpenCores returns
  // them: the one whose program it is; all of its chip is recorded, the views
  // show its units.
  int core = 0;
};

// A waveform that a replay recorded.
struct Waveform {
  std::string file;
  std::string view;  // the save file of GTKWave that opens on it
  int run = 0;
  uint64_t from = 0, to = 0;  // cycles, as of TraceOptions
};

// A fault of the memory: a bit that turns, of the 8 bytes of HBM at an address
// (rounded down): 0 to 63 of the data and, where the preset has ECC, 64 to 71
// of their check bits.
struct BitFlip {
  uint64_t address = 0;
  int bit = 0;
};

// How the chips of a device are simulated, however many. A board takes no
// notice, but for probes, which it has not: kInvalidArgument.
struct SimulationOptions {
  uint64_t seed =
      1;  // X-randomisation, random stalls, contents of unwritten HBM
  int stall_rate = 0;  // random stalls on every stream, in 1/256 a cycle (rtl)
  bool check_races = false;  // prove the synchronisation while running (iss)
  bool checked =
      false;  // the model with X-randomisation instead of the fast one (rtl)
  // The build of the model: verilator, or record if a program has it.
  std::string engine = "verilator";
  std::string record_file;  // engine record: all pins of every cycle go there
  // Between the chips of the torus as their host numbers them (rtl). Empty:
  // those of the torus, chips numbered row by row. The driver finds each chip's
  // place by its links, or says which cable is in the way.
  std::vector<Cable> cables;
  // Bits that turn on the way from chip to chip, of 2^20 (rtl). The links send
  // again what is spoilt.
  int wire_errors = 0;
  // That simulate (rtl): a chip with two cores 1 or 2, a torus up to one a
  // chip, of each process. Several are faster if the host has as many
  // processors to spare.
  int threads = 1;
  // That simulate the chips of a torus, over MPI, up to one a chip (rtl; with
  // Open MPI; docs/link.md). 0: as many as the environment variable
  // SYSTOLE_PROCESSES says, else this process does it all. Others keep no
  // snapshots.
  int processes = 0;
  // Core 1 of a chip with two stands still, in reset (rtl), which is twice as
  // fast. For programs that do not reach for its memory: an access there is
  // never answered, and only DeviceOptions::stop ends the program.
  bool alone = false;
  // Turned when the first program starts (rtl, iss; HBM).
  std::vector<BitFlip> flips;
  TraceOptions trace;
  // The last so many program starts are kept as copies of the process, from
  // which Replay goes on (rtl). With `waves`, a folder, a fault and a failed
  // assertion are replayed by themselves.
  int snapshots = 0;
  std::string waves;
  // By core, as Device::OpenCores returns them: gets a sample a cycle from Open
  // on, and outlives the device (rtl, but checked). May be fewer, or null: no
  // sink.
  std::vector<ProbeSink*> probes;
  bool probe_may_miss = false;  // no error where a model has no probe
};

// A link of a chip (docs/link.md).
struct LinkInfo {
  bool up = false, down = false;  // down: given up, a fault
  std::optional<LinkEnd> peer;    // who is at the other end, if it was heard
  LinkCounts counts;
};

// Of one core: that of the device whose Device::simulator it is, with which it
// ends. The same for a chip and for each of several.
class Simulator {
 public:
  virtual ~Simulator() = default;

  // A fault of the core's memory. kOutOfRange beyond it, kFailedPrecondition
  // for a check bit without ECC, kUnimplemented: it is a DRAM.
  virtual absl::Status Flip(const BitFlip& flip) = 0;
  // Links X+, X-, Y+, Y- of this core's chip, while no program runs.
  // kUnimplemented: the iss, which has only the messages that go over them.
  virtual absl::StatusOr<std::vector<LinkInfo>> Links() = 0;

  // Programs started since Open.
  int runs() const { return runs_; }
  // Runs a program again from its start, in a copy of this process that was
  // kept, and records trace.file; this device stays as it is. The replay is
  // compared with the run: kInternal if a completion, fault or failed assertion
  // differs. kFailedPrecondition: that start is not kept; kUnimplemented: the
  // iss, which has no waveforms.
  virtual absl::StatusOr<Waveform> Replay(const TraceOptions& trace) = 0;
  // Replay of the cycles around one (kAroundBefore, kAroundAfter), the largest
  // number: the last kAtEnd, into a file in SimulationOptions::waves that is
  // named after preset, `what` and run.
  virtual absl::StatusOr<Waveform> ReplayAround(int run, uint64_t cycle,
                                                const std::string& what) = 0;
  static constexpr uint64_t kAroundBefore = 3000, kAroundAfter = 1000,
                            kAtEnd = 20000;
  // What became of the last ReplayAround, also of those by themselves.
  const absl::StatusOr<Waveform>& waveform() const { return waveform_; }

 protected:
  int runs_ = 0;
  absl::StatusOr<Waveform> waveform_ =
      absl::NotFoundError("no waveform was recorded");
};

}  // namespace systole

#endif  // SYSTOLE_SIMULATOR_H_
