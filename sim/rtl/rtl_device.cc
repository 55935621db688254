// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Driver backend "rtl": registers and HBM through the pins of the Verilated
// core in its SystemC test bench.

#include <algorithm>
#include <ctime>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/driver/backends.h"
#include "systole/device.h"
#include "verif/tb/simulation.h"

namespace systole {
namespace {

double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

class RtlDevice : public Device {
 public:
  RtlDevice(const DeviceOptions& options, std::unique_ptr<tb::Simulation> sim)
      : options_(options), sim_(std::move(sim)) {
    sim_->SetCallbacks(
        [this](int queue, uint32_t index, uint64_t cycle) {
          OnRetire(queue, index, cycle);
        },
        [this](uint64_t cycle) {
          if (options_.progress) options_.progress(cycle - start_cycle_);
        });
  }

  absl::Status Configure() {
    auto id = sim_->ReadRegister(csr::kPreset);
    if (!id.ok()) return id.status();
    if (static_cast<int>(*id) != preset().id) {
      return absl::InternalError(absl::StrCat("the model says preset ", *id,
                                              ", asked was ", preset().id));
    }
    if (options_.probe != nullptr) {
      absl::Status status = sim_->core().SetProbe(options_.probe);
      if (!status.ok()) return status;
    }
    absl::Status status =
        sim_->WriteRegister(csr::kIrqEnable, csr::kIrqDone | csr::kIrqFault);
    if (status.ok() && options_.watchdog != 0)
      status = sim_->WriteRegister(csr::kWatchdog, options_.watchdog);
    return status;
  }

  const Preset& preset() const override { return sim_->preset(); }
  std::string backend() const override { return "rtl"; }

  absl::Status Write(uint64_t addr, absl::Span<const uint8_t> bytes) override {
    absl::Status status = CheckRange(addr, bytes.size());
    for (size_t done = 0; status.ok() && done < bytes.size(); done += kChunk) {
      status = sim_->WriteMemory(addr + done, bytes.subspan(done, kChunk));
    }
    return status;
  }

  absl::Status Read(uint64_t addr, absl::Span<uint8_t> bytes) override {
    absl::Status status = CheckRange(addr, bytes.size());
    for (size_t done = 0; status.ok() && done < bytes.size(); done += kChunk) {
      status = sim_->ReadMemory(addr + done, bytes.subspan(done, kChunk));
    }
    return status;
  }

  absl::Status Start(const Program& program) override {
    if (running_ != nullptr)
      return absl::FailedPreconditionError(
          "a program is running: call Wait first");
    if (fault_)
      return absl::FailedPreconditionError(
          "the device is frozen by a fault: call Reset first");
    if (program.preset != preset().name) {
      return absl::FailedPreconditionError(
          absl::StrFormat("program made for preset '%s', device is '%s'",
                          program.preset, preset().name));
    }
    const std::pair<uint32_t, uint64_t> words[] = {
        {csr::kProgAddrLo, program.prog_addr},
        {csr::kProgAddrHi, program.prog_addr >> 32},
        {csr::kProgLen, program.descriptors.size()},
        {csr::kHbmLimitLo, program.hbm_bytes},
        {csr::kHbmLimitHi, program.hbm_bytes >> 32},
    };
    for (const auto& [offset, value] : words) {
      absl::Status status =
          sim_->WriteRegister(offset, static_cast<uint32_t>(value));
      if (!status.ok()) return status;
    }
    retires_.clear();
    tag_left_.clear();
    if (!options_.trace_file.empty()) {
      absl::Status status = PlanTrace(program);
      if (!status.ok()) return status;
    }
    running_ = &program;
    start_cycle_ = sim_->core().cycles();
    start_cpu_ = CpuSeconds();
    return sim_->WriteRegister(csr::kCtrl, csr::kCtrlStart);
  }

  absl::StatusOr<RunStats> Wait() override {
    if (running_ == nullptr)
      return absl::FailedPreconditionError("no program was started");
    const Program& program = *std::exchange(running_, nullptr);
    RunStats stats;
    absl::Status status = WaitOrStop(stats);
    if (absl::IsCancelled(status) && tracing_) SetTrace(false).IgnoreError();
    if (!status.ok()) return status;
    stats.host_cpu_seconds = CpuSeconds() - start_cpu_;
    if (tracing_) trace_status_.Update(SetTrace(false));
    status = ReadState();
    if (status.ok())
      status = sim_->WriteRegister(csr::kIrq, csr::kIrqDone | csr::kIrqFault);
    if (status.ok() && fault_) {
      status = FaultStatus(program, *fault_);
      if (absl::Status memory = sim_->CheckMemory(); !memory.ok()) {
        status = absl::Status(
            status.code(),
            absl::StrCat(status.message(), "; ", memory.message()));
      }
    }
    if (status.ok()) status = sim_->CheckMemory();
    status.Update(trace_status_);
    if (!status.ok()) return status;
    for (int i = 0; i < csr::kNumCounters; ++i) {
      auto value = Read64(csr::kCounterBase + 8 * i);
      if (!value.ok()) return value.status();
      stats.counters[i] = *value;
    }
    auto saturated = sim_->ReadRegister(csr::kAccSaturated);
    if (!saturated.ok()) return saturated.status();
    stats.acc_saturated = *saturated != 0;
    stats.cycles = stats.counter(csr::Counter::kCycles);
    stats.retires = std::move(retires_);
    return stats;
  }

  absl::Status Reset() override {
    running_ = nullptr;
    absl::Status status = sim_->WriteRegister(csr::kCtrl, csr::kCtrlReset);
    while (status.ok()) {
      auto state = sim_->ReadRegister(csr::kStatus);
      if (!state.ok()) return state.status();
      if ((*state & csr::kStatusResetting) == 0) break;
    }
    fault_.reset();
    return status;
  }

  std::optional<FaultState> fault() const override { return fault_; }

 private:
  static constexpr size_t kChunk = size_t{1} << 20;  // bytes of a bus request
  static constexpr uint64_t kStopCycles = 4096;

  absl::Status CheckRange(uint64_t addr, size_t bytes) const {
    const uint64_t capacity = preset().memory_bytes();
    if (addr <= capacity && bytes <= capacity - addr) return absl::OkStatus();
    return absl::OutOfRangeError(
        absl::StrFormat("%d bytes at 0x%x end beyond the HBM of %d bytes",
                        bytes, addr, capacity));
  }

  absl::StatusOr<uint64_t> Read64(uint32_t offset) {
    auto low = sim_->ReadRegister(offset);
    if (!low.ok()) return low.status();
    auto high = sim_->ReadRegister(offset + 4);
    if (!high.ok()) return high.status();
    return static_cast<uint64_t>(*high) << 32 | *low;
  }

  // Until the interrupt or the end that options_.stop asks for, with samples.
  absl::Status WaitOrStop(RunStats& stats) {
    uint64_t sample_at = options_.sample_cycles;  // since start; 0: never
    while (true) {
      const uint64_t done = sim_->core().cycles() - start_cycle_;
      uint64_t cycles =
          sample_at == 0 ? 0 : std::max(sample_at, done + 1) - done;
      if (options_.stop)
        cycles = cycles == 0 ? kStopCycles : std::min(cycles, kStopCycles);
      absl::Status status = sim_->WaitInterrupt(cycles);
      if (!absl::IsDeadlineExceeded(status)) return status;
      const uint64_t now = sim_->core().cycles() - start_cycle_;
      if (options_.stop && options_.stop()) return CancelledStatus(now);
      if (sample_at == 0 || now < sample_at) continue;
      auto sample = ReadSample();
      if (!sample.ok()) return sample.status();
      stats.samples.push_back(*sample);
      sample_at = sim_->core().cycles() - start_cycle_ + options_.sample_cycles;
    }
  }

  // The low halves: programs that are sampled are shorter than 2^32 cycles.
  absl::StatusOr<CounterSample> ReadSample() {
    CounterSample sample;
    for (int i = 0; i < csr::kNumCounters; ++i) {
      auto value = sim_->ReadRegister(csr::kCounterBase + 8 * i);
      if (!value.ok()) return value.status();
      sample.counters[i] = *value;
    }
    sample.cycle = sim_->core().cycles() - start_cycle_;
    return sample;
  }

  // Reads the fault registers when the core is frozen.
  absl::Status ReadState() {
    auto state = sim_->ReadRegister(csr::kStatus);
    if (!state.ok()) return state.status();
    if ((*state & csr::kStatusFault) == 0) return absl::OkStatus();
    FaultState fault;
    auto cause = sim_->ReadRegister(csr::kFaultCause);
    auto queue = sim_->ReadRegister(csr::kFaultQueue);
    auto index = sim_->ReadRegister(csr::kFaultPc);
    auto address = Read64(csr::kFaultAddrLo);
    auto cycle = Read64(csr::kFaultCycleLo);
    for (const absl::Status& status :
         {cause.status(), queue.status(), index.status(), address.status(),
          cycle.status()}) {
      if (!status.ok()) return status;
    }
    fault.cause = static_cast<isa::Fault>(*cause);
    fault.queue = *queue;
    fault.index = *index;
    fault.address = *address;
    fault.cycle = *cycle;
    fault_ = fault;
    return absl::OkStatus();
  }

  // Records from the completion before the first wanted layer's first one to
  // the last of the last wanted layer.
  absl::Status PlanTrace(const Program& program) {
    if (options_.trace_first_tag < 0) return SetTrace(true);
    first_traced_ = std::numeric_limits<uint32_t>::max();
    last_traced_ = 0;
    for (uint32_t i = 0; i < program.descriptors.size(); ++i) {
      const int tag = static_cast<int>(
          isa::Halt::Decode(program.descriptors[i]).header.tag);
      if (tag < options_.trace_first_tag || tag > options_.trace_last_tag)
        continue;
      if (isa::Halt::Decode(program.descriptors[i]).header.opcode ==
          static_cast<uint8_t>(isa::Opcode::kHalt))
        continue;
      first_traced_ = std::min(first_traced_, i);
      last_traced_ = std::max(last_traced_, i);
    }
    if (first_traced_ > last_traced_) {
      return absl::InvalidArgumentError(
          absl::StrCat("no descriptor of layers ", options_.trace_first_tag,
                       " to ", options_.trace_last_tag, " to trace"));
    }
    for (uint32_t i = first_traced_; i <= last_traced_; ++i)
      tag_left_.push_back(true);
    traced_left_ = tag_left_.size();
    if (first_traced_ < isa::kNumQueues) return SetTrace(true);
    return absl::OkStatus();
  }

  absl::Status SetTrace(bool on) {
    tracing_ = on;
    return sim_->core().SetTrace(options_.trace_file, on);
  }

  void OnRetire(int queue, uint32_t index, uint64_t cycle) {
    retires_.push_back(
        {static_cast<isa::Queue>(queue), index, cycle - start_cycle_});
    if (tag_left_.empty()) return;
    // The wanted layer begins soon after a descriptor shortly before it is
    // complete.
    if (!tracing_ && traced_left_ != 0 &&
        index + isa::kNumQueues >= first_traced_) {
      trace_status_.Update(SetTrace(true));
    }
    if (index >= first_traced_ && index <= last_traced_ &&
        tag_left_[index - first_traced_]) {
      tag_left_[index - first_traced_] = false;
      if (--traced_left_ == 0) trace_status_.Update(SetTrace(false));
    }
  }

  DeviceOptions options_;
  std::unique_ptr<tb::Simulation> sim_;
  const Program* running_ = nullptr;
  uint64_t start_cycle_ = 0;
  double start_cpu_ = 0;
  std::vector<Retire> retires_;
  std::optional<FaultState> fault_;
  bool tracing_ = false;
  absl::Status trace_status_;  // first failure to record
  uint32_t first_traced_ = 0, last_traced_ = 0;
  std::vector<bool>
      tag_left_;  // of the descriptors first_traced_..last_traced_
  size_t traced_left_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenRtlDevice(
    const DeviceOptions& options) {
  tb::Simulation::Options sim_options;
  sim_options.preset = options.preset;
  sim_options.checked = options.checked;
  sim_options.seed = options.seed;
  sim_options.stall_rate = options.stall_rate;
  sim_options.engine = options.engine;
  sim_options.record_file = options.record_file;
  auto sim = tb::Simulation::Create(sim_options);
  if (!sim.ok()) return sim.status();
  auto device = std::make_unique<RtlDevice>(options, std::move(*sim));
  absl::Status status = device->Configure();
  if (!status.ok()) return status;
  return device;
}

}  // namespace systole
