// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "sim/rtl/rtl_device.h"

#include <algorithm>
#include <ctime>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/driver/backends.h"

namespace systole {
namespace {

constexpr size_t kChunk = size_t{1} << 20;  // bytes per bus request
constexpr uint64_t kStopCycles = 4096;

// Of the status, while a core drains; a read takes some cycles.
constexpr int kResetReads = 20000;

// Within this many cycles, all writes queued in a controller reach its HBM.
constexpr uint64_t kWritesArrive = 4096;

double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Core `number` of the torus, place by place.
tb::CorePort PortOf(const Machine& machine, int number) {
  const auto cores =
      static_cast<int>(machine.simulation()->preset().chip.cores);
  return tb::CorePort(machine.simulation(),
                      machine.chip_at(number / cores) * cores + number % cores);
}

}  // namespace

RtlDevice::RtlDevice(const DeviceOptions& options,
                     const Environment& environment,
                     std::shared_ptr<Machine> machine, int number)
    : Device(*FindPreset(options.preset), "rtl",
             PortOf(*machine, number).chip(), this),
      options_(options),
      machine_(std::move(machine)),
      number_(number),
      folder_(options.simulation.waves.empty() ? environment.waves
                                               : options.simulation.waves),
      process_trace_(environment.trace),
      sim_(PortOf(*machine_, number)) {
  machine_->Add(this);
  sim_.SetCallbacks(
      [this](int queue, uint32_t index, uint64_t cycle) {
        retires_.push_back(
            {static_cast<isa::Queue>(queue), index, cycle - start_cycle_});
      },
      [this](uint64_t cycle) {
        if (options_.progress) options_.progress(cycle - start_cycle_);
      });
}

RtlDevice::~RtlDevice() {
  machine_->Remove(this);
  ForgetSimulator(this);
}

absl::Status RtlDevice::Identify() {
  auto id = sim_.ReadRegister(csr::kPreset);
  if (!id.ok()) return id.status();
  if (static_cast<int>(*id) != preset().id) {
    return absl::InternalError(absl::StrCat("the model says preset ", *id,
                                            ", asked was ", preset().id));
  }
  const SimulationOptions& simulation = options_.simulation;
  const size_t core = number_;
  if (core < simulation.probes.size() && simulation.probes[core] != nullptr) {
    absl::Status status =
        sim_.core().SetProbe(sim_.number(), simulation.probes[core]);
    const bool missing =
        absl::IsUnimplemented(status) && simulation.probe_may_miss;
    if (!status.ok() && !missing) return status;
  }
  return absl::OkStatus();
}

absl::Status RtlDevice::Configure(const std::vector<uint32_t>& firmware) {
  if (preset().chip.smem_bytes != 0) return BeginBoot(firmware);
  absl::Status status =
      sim_.WriteRegister(csr::kIrqEnable, csr::kIrqDone | csr::kIrqFault);
  if (status.ok() && options_.watchdog != 0)
    status = sim_.WriteRegister(csr::kWatchdog, options_.watchdog);
  return status;
}

absl::Status RtlDevice::Write(uint64_t addr, absl::Span<const uint8_t> bytes) {
  absl::Status status = CheckRange(addr, bytes.size());
  written_ = true;
  for (size_t done = 0; status.ok() && done < bytes.size(); done += kChunk) {
    if (done > 0 && options_.stop && options_.stop()) {
      return absl::CancelledError(
          absl::StrFormat("rtl: stopped after %d of %d bytes were written",
                          done, bytes.size()));
    }
    status = sim_.WriteMemory(addr + done, bytes.subspan(done, kChunk));
  }
  return status;
}

absl::Status RtlDevice::Read(uint64_t addr, absl::Span<uint8_t> bytes) {
  absl::Status status = CheckRange(addr, bytes.size());
  for (size_t done = 0; status.ok() && done < bytes.size(); done += kChunk) {
    status = sim_.ReadMemory(addr + done, bytes.subspan(done, kChunk));
  }
  if (!status.ok() || preset().chip.ecc == 0 || running_ != nullptr || fault_)
    return status;
  // The data was returned in spite of an uncorrectable error; the fault has
  // frozen the core.
  status = ReadState();
  if (status.ok() && fault_)
    return UncorrectedStatus(addr, bytes.size(), *fault_);
  return status;
}

absl::Status RtlDevice::Flip(const BitFlip& flip) {
  if (absl::Status s = CheckRange(flip.address, 1); !s.ok()) return s;
  // A host write that is still queued would overwrite the bit flip.
  if (std::exchange(written_, false) && queue_ == nullptr) {
    absl::Status s = sim_.WaitInterrupt(kWritesArrive);
    if (!s.ok() && !absl::IsDeadlineExceeded(s)) return s;
  }
  return sim_.Flip(flip.address, flip.bit);
}

absl::Status RtlDevice::Start(const Program& program) {
  if (absl::Status s = CheckStart(program); !s.ok()) return s;
  if (queue_ == nullptr && preset().chip.smem_bytes != 0)
    return absl::FailedPreconditionError(
        "the core has not booted since its device was reset: reset the device "
        "(ResetScope::kDevice)");
  for (const BitFlip& flip : std::exchange(options_.simulation.flips, {}))
    if (absl::Status s = Flip(flip); !s.ok()) return s;
  written_ = false;  // while a program runs, a bit flip takes effect at once
  const std::pair<uint32_t, uint64_t> words[] = {
      {csr::kProgAddrLo, program.prog_addr},
      {csr::kProgAddrHi, program.prog_addr >> 32},
      {csr::kProgLen, program.descriptors.size()},
      {csr::kHbmLimitLo, program.hbm_bytes},
      {csr::kHbmLimitHi, program.hbm_bytes >> 32},
  };
  for (const auto& [offset, value] : words) {
    if (queue_ != nullptr) break;
    absl::Status status =
        sim_.WriteRegister(offset, static_cast<uint32_t>(value));
    if (!status.ok()) return status;
  }
  retires_.clear();
  start_cycle_ = sim_.core().cycles();
  const int run = runs_++;
  if (options_.simulation.snapshots > 0) {
    absl::Status status = KeepStart(program);
    if (!status.ok()) return status;
  }
  const bool of_process =
      process_trace_ && process_trace_->run == ProgramsStarted();
  SetLastStarted(this);
  if (of_process || (!options_.simulation.trace.file.empty() &&
                     run == options_.simulation.trace.run &&
                     number_ == options_.simulation.trace.core)) {
    tracer_.emplace(sim_,
                    of_process ? *process_trace_ : options_.simulation.trace,
                    program, start_cycle_);
    absl::Status status = tracer_->Open();
    if (!status.ok()) {
      tracer_.reset();
      return status;
    }
  }
  running_ = &program;
  start_cpu_ = CpuSeconds() + sim_.device().other_cpu_seconds();
  if (queue_ != nullptr) return Launch(program);
  return sim_.WriteRegister(csr::kCtrl, csr::kCtrlStart);
}

absl::StatusOr<RunStats> RtlDevice::Wait() {
  if (running_ == nullptr)
    return absl::FailedPreconditionError("no program was started");
  const Program& program = *std::exchange(running_, nullptr);
  RunStats stats;
  absl::Status status = WaitOrStop(stats);
  stats.host_cpu_seconds =
      CpuSeconds() + sim_.device().other_cpu_seconds() - start_cpu_;
  if (sim_.core().failed()) status = FailedStatus(program);
  absl::Status traced;
  if (tracer_) traced = tracer_->Close();
  tracer_.reset();
  if (status.ok()) status = queue_ != nullptr ? ReadCompletion() : ReadState();
  KeepEnd();
  if (!absl::IsCancelled(status)) ReplayFailure();
  auto result = Finish(program, std::move(status), std::move(stats));
  if (result.ok() && !traced.ok()) return traced;
  return result;
}

absl::StatusOr<RunStats> RtlDevice::Finish(const Program& program,
                                           absl::Status status,
                                           RunStats stats) {
  if (status.ok())
    status = sim_.WriteRegister(csr::kIrq, csr::kIrqDone | csr::kIrqFault);
  if (status.ok() && fault_) {
    status = FaultStatus(program, *fault_);
    if (fault_->cause == isa::Fault::kLinkDown && machine_->linked()) {
      const auto link = machine_->DownOf(chip());
      if (link.ok() && !link->empty())
        status = absl::Status(status.code(),
                              absl::StrCat(status.message(), "; ", *link));
    }
    if (absl::Status memory = sim_.CheckMemory(); !memory.ok()) {
      status = absl::Status(status.code(), absl::StrCat(status.message(), "; ",
                                                        memory.message()));
    }
  }
  if (status.ok()) status = sim_.CheckMemory();
  if (!status.ok()) return status;
  for (int i = 0; i < csr::kNumCounters; ++i) {
    auto value = Read64(csr::kCounterBase + 8 * i);
    if (!value.ok()) return value.status();
    stats.counters[i] = *value;
  }
  auto saturated = sim_.ReadRegister(csr::kAccSaturated);
  if (!saturated.ok()) return saturated.status();
  stats.acc_saturated = *saturated != 0;
  auto ecc = ReadEcc();
  if (!ecc.ok()) return ecc.status();
  stats.ecc = *ecc;
  // A partial write at the end may have found its error only now.
  if (ecc->uncorrected != 0) {
    if (absl::Status s = ReadState(); !s.ok()) return s;
    if (fault_) return FaultStatus(program, *fault_);
  }
  if (machine_->linked()) {
    auto links = machine_->CountsOf(chip());
    if (!links.ok()) return links.status();
    stats.links = *std::move(links);
  }
  stats.cycles = stats.counter(csr::Counter::kCycles);
  stats.retires = std::move(retires_);
  return stats;
}

absl::Status RtlDevice::Reset(ResetScope scope) {
  if (scope == ResetScope::kDevice) return machine_->Reset();
  running_ = nullptr;
  absl::Status status = CancelLaunch();
  if (status.ok()) status = SoftReset();
  return status;
}

absl::Status RtlDevice::SoftReset() {
  absl::Status status = sim_.WriteRegister(csr::kCtrl, csr::kCtrlReset);
  if (status.ok()) status = AwaitReset();
  if (!status.ok()) return status;
  running_ = nullptr;
  fault_.reset();
  return absl::OkStatus();
}

absl::Status RtlDevice::AwaitReset() {
  for (int reads = 0; reads < kResetReads; ++reads) {
    auto state = sim_.ReadRegister(csr::kStatus);
    if (!state.ok()) return state.status();
    if ((*state & csr::kStatusResetting) == 0) return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat(
      "rtl: the core does not come out of its reset: its memory or its links "
      "have accesses in flight",
      machine_->linked() ? "; ResetScope::kDevice resets the links, too" : ""));
}

// Error text for a failed assertion. It names the oldest descriptor in flight
// in the unit that the failed module belongs to, or in any unit if there is
// none.
absl::Status RtlDevice::FailedStatus(const Program& program) const {
  const tb::FailedAssertion& failed = *sim_.core().failed();
  constexpr std::pair<std::string_view, isa::Queue> kUnits[] = {
      {".u_load", isa::Queue::kLoad},
      {".u_weight_loader", isa::Queue::kWeight},
      {".u_mxu", isa::Queue::kMxu},
      {".u_vector", isa::Queue::kVector},
      {".u_store", isa::Queue::kStore},
      {".u_send", isa::Queue::kSend},
      {".gen_queue[0]", isa::Queue::kLoad},
      {".gen_queue[1]", isa::Queue::kWeight},
      {".gen_queue[2]", isa::Queue::kMxu},
      {".gen_queue[3]", isa::Queue::kVector},
      {".gen_queue[4]", isa::Queue::kStore},
      {".gen_send", isa::Queue::kSend}};
  isa::Queue unit = isa::Queue::kNone;
  for (const auto& [part, queue] : kUnits) {
    if (failed.path.find(part) != std::string::npos) unit = queue;
  }
  std::vector<bool> done(program.descriptors.size());
  for (const Retire& r : retires_)
    if (r.index < done.size()) done[r.index] = true;
  std::string at;
  for (size_t i = 0; i < done.size() && at.empty(); ++i) {
    const isa::Descriptor& d = program.descriptors[i];
    const isa::Header header = isa::Halt::Decode(d).header;
    const isa::OpInfo* op = isa::FindOp(header.opcode);
    if (done[i] || op == nullptr || op->queue == isa::Queue::kNone ||
        (unit != isa::Queue::kNone && op->queue != unit))
      continue;
    at = absl::StrFormat(
        "descriptor %d%s: %s", i,
        header.tag < program.layers.size()
            ? " (layer '" + program.layers[header.tag].name + "')"
            : "",
        Disassemble(d));
  }
  return absl::InternalError(
      absl::StrFormat("rtl: %s, in %s, cycle %d of the program; %s",
                      failed.what, failed.path, failed.cycle - start_cycle_,
                      at.empty() ? "all descriptors are complete" : at));
}

absl::Status RtlDevice::CheckRange(uint64_t addr, size_t bytes) const {
  const uint64_t capacity =
      queue_ != nullptr ? queue_->limit() : preset().memory_bytes();
  if (addr <= capacity && bytes <= capacity - addr) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrFormat("%d bytes at 0x%x end beyond the HBM of %d bytes", bytes,
                      addr, capacity));
}

absl::StatusOr<uint64_t> RtlDevice::Read64(uint32_t offset) {
  auto low = sim_.ReadRegister(offset);
  if (!low.ok()) return low.status();
  auto high = sim_.ReadRegister(offset + 4);
  if (!high.ok()) return high.status();
  return static_cast<uint64_t>(*high) << 32 | *low;
}

// Waits for the interrupt or for options_.stop, and takes samples.
absl::Status RtlDevice::WaitOrStop(RunStats& stats) {
  // In cycles since the start; 0: no samples.
  uint64_t sample_at = options_.sample_cycles;
  while (true) {
    const uint64_t done = sim_.core().cycles() - start_cycle_;
    uint64_t cycles = sample_at == 0 ? 0 : std::max(sample_at, done + 1) - done;
    if (options_.stop)
      cycles = cycles == 0 ? kStopCycles : std::min(cycles, kStopCycles);
    absl::Status status = sim_.WaitInterrupt(cycles);
    if (status.ok() && queue_ == nullptr) {
      auto runs = StillRuns();
      if (!runs.ok() || !*runs) return runs.status();
      continue;
    }
    if (!absl::IsDeadlineExceeded(status)) return status;
    const uint64_t now = sim_.core().cycles() - start_cycle_;
    if (options_.stop && options_.stop()) return CancelledStatus(now);
    if (sample_at == 0 || now < sample_at) continue;
    auto sample = ReadSample();
    if (!sample.ok()) return sample.status();
    stats.samples.push_back(*sample);
    sample_at = sim_.core().cycles() - start_cycle_ + options_.sample_cycles;
  }
}

}  // namespace systole
