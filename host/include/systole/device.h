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
//   absl::StatusOr<std::vector<uint8_t>> bytes = (*device)->ReadTensor(output);
#ifndef SYSTOLE_DEVICE_H_
#define SYSTOLE_DEVICE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "systole/gen/csr.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"
#include "systole/probe.h"
#include "systole/program.h"
#include "systole/simulator.h"

namespace systole {

// Chips of a device, joined by their links (docs/link.md).
struct Torus {
  int columns = 1, rows = 1;  // 1 to 32 each
  int chips() const { return columns * rows; }
};

struct DeviceOptions {
  std::string preset = "edge";
  // More than one chip: presets with links (rtl, iss).
  Torus torus;
  uint32_t watchdog =
      0;  // cycles without progress before a fault; 0 = the default
  // An ELF file that the scalar unit runs in place of the built-in firmware
  // (rtl, presets with a scalar unit; docs/firmware.md). Empty: the built-in.
  std::string firmware;
  uint64_t sample_cycles = 0;  // read all counters about this often while a
                               // program runs (rtl, serial); 0 = never
  // Called now and then during Wait with the cycles so far (rtl, serial) or
  // descriptors done (iss).
  std::function<void(uint64_t)> progress;
  // Called now and then during long transfers with bytes done and in all
  // (serial).
  std::function<void(uint64_t, uint64_t)> transfer;
  // Asked now and then during Wait (rtl: each 4096 cycles, iss: each
  // descriptor) and during long transfers (rtl: writes, serial: both); true
  // ends them, kCancelled.
  std::function<bool()> stop;
  SimulationOptions simulation;
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

// What Reset makes new.
enum class ResetScope {
  // This core: clears a fault; HBM, unified buffer and accumulators keep their
  // data.
  kCore,
  // All cores that were opened with this one, whatever they do, and the links
  // between them: what is on its way is lost, no flag stays set. Memories keep
  // their data, but for what is being written.
  kDevice,
};

// A core and its memory. A backend writes Write, Read, Start, Wait and Reset;
// all else is made of these.
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

  // HBM bytes, any address and length. kOutOfRange beyond the HBM; kDataLoss:
  // ECC cannot correct some of what was read, which is a fault.
  virtual absl::Status Write(uint64_t addr,
                             absl::Span<const uint8_t> bytes) = 0;
  virtual absl::Status Read(uint64_t addr, absl::Span<uint8_t> bytes) = 0;

  // Starts the loaded program. kFailedPrecondition while one runs or after a
  // fault.
  virtual absl::Status Start(const Program& program) = 0;
  // Until halt or fault. A fault is kAborted with cause, descriptor
  // (disassembled), address and cycle. kCancelled: DeviceOptions::stop said so;
  // the program is not complete, and Reset ends it.
  virtual absl::StatusOr<RunStats> Wait() = 0;
  // kInternal: the core does not come out of its reset.
  virtual absl::Status Reset(ResetScope scope) = 0;

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
  // Load + Start + Wait.
  absl::StatusOr<RunStats> Run(const Program& program);

  const Preset& preset() const { return preset_; }
  const std::string& backend() const { return backend_; }  // "serial": no port
  // The number that the host has of this core's chip; other than its place
  // where cables lie otherwise (SimulationOptions::cables).
  int chip() const { return chip_; }
  // Of the last program or Read, until Reset.
  const std::optional<FaultState>& fault() const { return fault_; }
  // What only a simulator does; null for a board. Ends with the device.
  Simulator* simulator() const { return simulator_; }

 protected:
  // `preset`: of kPresets. `simulator`: the backend's own part, or null.
  Device(const Preset& preset, std::string backend, int chip,
         Simulator* simulator);

  // kFailedPrecondition: a program runs, a fault has frozen the core, or the
  // program was made for another preset.
  absl::Status CheckStart(const Program& program) const;
  absl::Status FaultStatus(const Program& program,
                           const FaultState& fault) const;
  // `done`: cycles (rtl, serial) or descriptors (iss).
  absl::Status CancelledStatus(uint64_t done) const;
  // "two wrong bits ...": of a Read that met what ECC cannot correct.
  absl::Status UncorrectedStatus(uint64_t addr, size_t bytes,
                                 const FaultState& fault) const;

  const Program* running_ = nullptr;  // started, and nobody has waited
  std::optional<FaultState> fault_;

 private:
  const Preset& preset_;
  const std::string backend_;
  const int chip_;
  Simulator* const simulator_;
  uint64_t next_free_ = 0;
};

}  // namespace systole

#endif  // SYSTOLE_DEVICE_H_
