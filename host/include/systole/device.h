// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The host driver: one API for every backend; the same program binary runs on
// each.
//
//   auto device = systole::Device::Open("rtl", {.preset = "edge"});
//   if (!device.ok()) return device.status();
//   (*device)->Load(program);  // data segments and descriptors into HBM
//   (*device)->WriteTensor(input, bytes);  // dense NHWC
//   (*device)->Start(program);             // rings the doorbell
//   absl::StatusOr<systole::RunStats> stats =
//       (*device)->Wait();  // until the interrupt
//   (*device)->ReadTensor(output, &bytes);
#ifndef SYSTOLE_DEVICE_H_
#define SYSTOLE_DEVICE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "systole/cable.h"
#include "systole/gen/csr.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"
#include "systole/probe.h"
#include "systole/program.h"

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
      mark;      // the cycle that it is all about, for the views
  int core = 0;  // of several, as OpenCores returns them: the one whose program
                 // it is; all of its chip is recorded, the views show its units
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

// Chips of a device, joined by their links (docs/link.md).
struct Torus {
  int columns = 1, rows = 1;  // 1 to 32 each
  int chips() const { return columns * rows; }
};

struct DeviceOptions {
  std::string preset = "edge";
  uint64_t seed =
      1;  // X-randomisation, random stalls, contents of unwritten HBM
  int stall_rate = 0;  // random stalls on every stream, in 1/256 a cycle (rtl)
  uint32_t watchdog =
      0;  // cycles without progress before a fault; 0 = the default
  bool check_races = false;  // prove the synchronisation while running (iss)
  bool checked =
      false;  // the model with X-randomisation instead of the fast one (rtl)
  // The build of the model: verilator, or record if a program has it.
  std::string engine = "verilator";
  std::string record_file;  // engine record: all pins of every cycle go there
  // More than one chip: presets with links (rtl, iss).
  Torus torus;
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
  // snapshots and record no single layers.
  int processes = 0;
  // Core 1 of a chip with two stands still, in reset (rtl), which is twice as
  // fast. For programs that do not reach for its memory: an access there is
  // never answered, and only `stop` ends the program.
  bool alone = false;
  // An ELF file that the scalar unit runs in place of the built-in firmware
  // (rtl, presets with a scalar unit; docs/firmware.md). Empty: the built-in.
  std::string firmware;
  // Turned when the first program starts (rtl, iss; HBM).
  std::vector<BitFlip> flips;
  uint64_t sample_cycles = 0;  // read all counters about this often while a
                               // program runs (rtl); 0 = never
  TraceOptions trace;
  // The last so many program starts are kept as copies of the process, from
  // which Replay goes on (rtl). With `waves`, a folder, a fault and a failed
  // assertion are replayed by themselves.
  int snapshots = 0;
  std::string waves;
  // By core, as OpenCores returns them: gets a sample a cycle from Open on, and
  // outlives the device (rtl, but checked). May be fewer, or null: no sink.
  std::vector<ProbeSink*> probes;
  bool probe_may_miss = false;  // no error where a model has no probe
  // Called now and then during Wait with the cycles so far (rtl) or descriptors
  // done (iss).
  std::function<void(uint64_t)> progress;
  // Called now and then during long transfers with bytes done and in all
  // (serial).
  std::function<void(uint64_t, uint64_t)> transfer;
  // Asked now and then during Wait (rtl: each 4096 cycles, iss: each
  // descriptor) and during long writes (rtl); true ends them, kCancelled.
  std::function<bool()> stop;
};

// A descriptor's completion as the trace port shows it.
struct Retire {
  isa::Queue queue;
  uint32_t index;  // in the program, with loops: how many came before it
  uint64_t cycle;  // since start
};

using CounterValues = std::array<uint64_t, csr::kNumCounters>;

// The counters while a program ran. They are read one after the other, within
// some hundred cycles of `cycle`.
struct CounterSample {
  uint64_t cycle = 0;  // since start
  CounterValues counters = {};
};

// What ECC did since the end of the program before: in the core's memory, all 0
// for presets without it, and in the scalar unit's own (SMEM).
struct EccCounts {
  uint64_t corrected = 0;        // answers with a bit, or bits, put right
  uint64_t first = 0, last = 0;  // addresses of their words, if any
  uint64_t uncorrected = 0;      // answers with two wrong bits in a word:
  uint64_t bad = 0;              // only the scrubber saw them; the first
  uint64_t smem_corrected = 0;   // reads of SMEM with a bit put right,
  uint64_t smem_last = 0;        // address in it of the last one, if any
  void Add(const EccCounts& later);
  // "ECC corrected 2 answers of the memory, the first at 0x40, ..."; empty if
  // there is nothing to tell.
  std::string Describe() const;
};

struct RunStats {
  uint64_t cycles = 0;  // from start to interrupt; 0 on the iss
  double host_cpu_seconds = 0;
  CounterValues counters = {};
  bool acc_saturated = false;  // an int8 core's sum went beyond int32
  EccCounts ecc;
  std::vector<Retire> retires;         // in order of completion
  std::vector<CounterSample> samples;  // DeviceOptions::sample_cycles
  // Of the chip's links X+, X-, Y+, Y-, at the end (rtl, several chips).
  std::vector<LinkCounts> links;
  uint64_t counter(csr::Counter c) const {
    return counters[static_cast<int>(c)];
  }
  // Sums of cycles, time and counters; the lists stay as they are.
  void Add(const RunStats& other);
};

// What the fault CSRs latched.
struct FaultState {
  isa::Fault cause = isa::Fault::kNone;
  uint32_t queue = 0;  // isa::Queue, or 7: the sequencer
  uint32_t index = 0;  // descriptor
  uint64_t address = 0;
  uint64_t cycle = 0;
  // Descriptors that came before it; other than `index` in programs with loops.
  uint32_t instance = 0;
};

// A link of a chip (docs/link.md).
struct LinkInfo {
  bool up = false, down = false;  // down: given up, a fault
  std::optional<LinkEnd> peer;    // who is at the other end, if it was heard
  LinkCounts counts;
};

class Device {
 public:
  // backend: "rtl" (Verilated core in the SystemC testbench), "iss", or
  // "serial:PORT" (a board; an empty preset takes what it has).
  // kInvalidArgument names what exists.
  static absl::StatusOr<std::unique_ptr<Device>> Open(
      const std::string& backend, const DeviceOptions& options);
  // The cores of all chips, a device each: chips row by row of the torus, the
  // cores of each in their order (docs/chip.md, docs/link.md). Open gives the
  // first alone. Programs that were started on them run at the same time, while
  // any of the devices waits. Not for several threads.
  static absl::StatusOr<std::vector<std::unique_ptr<Device>>> OpenCores(
      const std::string& backend, const DeviceOptions& options);
  virtual ~Device() = default;

  virtual const Preset& preset() const = 0;
  virtual std::string backend() const = 0;

  // HBM bytes, any address and length. kOutOfRange beyond the HBM; kDataLoss:
  // ECC cannot correct some of what was read, which is a fault.
  virtual absl::Status Write(uint64_t addr,
                             absl::Span<const uint8_t> bytes) = 0;
  virtual absl::Status Read(uint64_t addr, absl::Span<uint8_t> bytes) = 0;

  // A fault of the memory. kOutOfRange beyond it, kFailedPrecondition for a
  // check bit without ECC, kUnimplemented: the backend has no such thing.
  virtual absl::Status Flip(const BitFlip& flip);

  // A buffer in HBM above everything allocated or loaded so far, aligned to
  // 128. Freed with FreeAll.
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes);
  void FreeAll() { next_free_ = 0; }

  // Data segments and descriptors into HBM. kFailedPrecondition if made for
  // another preset.
  absl::Status Load(const Program& program);
  // Dense tensors (NHWC, little endian) to and from their layout in HBM.
  // kInvalidArgument on a wrong size.
  absl::Status WriteTensor(const TensorInfo& tensor,
                           absl::Span<const uint8_t> dense);
  absl::StatusOr<std::vector<uint8_t>> ReadTensor(const TensorInfo& tensor);

  // Starts the loaded program. kFailedPrecondition while one runs or after a
  // fault.
  virtual absl::Status Start(const Program& program) = 0;
  // Until halt or fault. A fault is kAborted with cause, descriptor
  // (disassembled), address and cycle. kCancelled: DeviceOptions::stop said so;
  // the program is not complete, and Reset ends it.
  virtual absl::StatusOr<RunStats> Wait() = 0;
  // Load + Start + Wait.
  absl::StatusOr<RunStats> Run(const Program& program);
  // Soft reset: clears a fault; HBM, unified buffer and accumulators keep their
  // data.
  virtual absl::Status Reset() = 0;
  // Reset of all cores that were opened with this one, whatever they do, and of
  // the links between them: what is on its way is lost, no flag stays set.
  // Memories keep their data, but for what is being written.
  virtual absl::Status ResetAll() { return Reset(); }
  virtual std::optional<FaultState> fault() const = 0;

  // The number that the host has of this core's chip; other than its place
  // where cables lie otherwise (DeviceOptions::cables).
  virtual int chip() const { return 0; }
  // Links X+, X-, Y+, Y- of this core's chip, while no program runs (rtl,
  // presets with links).
  virtual absl::StatusOr<std::vector<LinkInfo>> Links();

  // Programs started since Open.
  virtual int runs() const { return 0; }
  // Runs a program again from its start, in a copy of this process that was
  // kept, and records trace.file; this device stays as it is. The replay is
  // compared with the run: kInternal if a completion, fault or failed assertion
  // differs. kFailedPrecondition: that start is not kept.
  virtual absl::StatusOr<Waveform> Replay(const TraceOptions& trace);
  // Replay of the cycles around one (kAroundBefore, kAroundAfter), the largest
  // number: the last kAtEnd, into a file in DeviceOptions::waves that is named
  // after preset, `what` and run.
  virtual absl::StatusOr<Waveform> ReplayAround(int run, uint64_t cycle,
                                                const std::string& what);
  static constexpr uint64_t kAroundBefore = 3000, kAroundAfter = 1000,
                            kAtEnd = 20000;
  // What became of the last ReplayAround, also of those by themselves.
  const absl::StatusOr<Waveform>& waveform() const { return waveform_; }

 protected:
  absl::Status FaultStatus(const Program& program,
                           const FaultState& fault) const;
  // `done`: cycles (rtl) or descriptors (iss).
  absl::Status CancelledStatus(uint64_t done) const;
  // "two wrong bits ...": of a Read that met what ECC cannot correct.
  absl::Status UncorrectedStatus(uint64_t addr, size_t bytes,
                                 const FaultState& fault) const;
  uint64_t next_free_ = 0;
  absl::StatusOr<Waveform> waveform_ =
      absl::NotFoundError("no waveform was recorded");
};

}  // namespace systole

#endif  // SYSTOLE_DEVICE_H_
