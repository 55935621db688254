// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/iss/iss_device.h"

#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/driver/backends.h"

namespace systole {
namespace iss {
namespace {

constexpr uint64_t kProgressInterval = 64;  // in descriptors

double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Fills the counters that do not need a clock.
void FillCounters(const State& state, uint64_t descriptors, RunStats* stats) {
  const Counters& c = state.counters;
  const auto set = [stats](csr::Counter counter, uint64_t value) {
    stats->counters[static_cast<int>(counter)] = value;
  };
  set(csr::Counter::kDescriptors, descriptors);
  set(csr::Counter::kLoadBytes, c.load_beats * state.beat());
  set(csr::Counter::kWeightBytes, c.weight_beats * state.beat());
  set(csr::Counter::kStoreBytes, c.store_beats * state.beat());
  set(csr::Counter::kSendBytes, c.send_bytes);
  set(csr::Counter::kMxuVectors, c.vectors);
  set(csr::Counter::kFetchBytes, c.fetch_beats * state.beat());
  set(csr::Counter::kHbmReadBeats,
      c.load_beats + c.weight_beats + c.fetch_beats);
  set(csr::Counter::kHbmWriteBeats, c.store_beats);
  set(csr::Counter::kMxuNan, c.mxu_nan);
  set(csr::Counter::kMxuInf, c.mxu_inf);
  set(csr::Counter::kVectorNan, c.vector_nan);
  set(csr::Counter::kVectorInf, c.vector_inf);
}

}  // namespace

IssDevice::IssDevice(const DeviceOptions& options, int chip)
    : Device(*FindPreset(options.preset), "iss", chip, this),
      options_(options),
      iss_(preset(), options.simulation.seed) {}

absl::Status IssDevice::CheckRange(uint64_t addr, size_t bytes) const {
  const uint64_t capacity = iss_.state().hbm.own_bytes();
  if (addr <= capacity && bytes <= capacity - addr) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrFormat("%d bytes at 0x%x end beyond the HBM of %d bytes", bytes,
                      addr, capacity));
}

absl::Status IssDevice::Write(uint64_t addr, absl::Span<const uint8_t> bytes) {
  if (absl::Status s = CheckRange(addr, bytes.size()); !s.ok()) return s;
  iss_.state().hbm.Write(addr, bytes);
  return CheckEcc(addr, bytes.size());
}

absl::Status IssDevice::Read(uint64_t addr, absl::Span<uint8_t> bytes) {
  if (absl::Status s = CheckRange(addr, bytes.size()); !s.ok()) return s;
  iss_.state().hbm.Read(addr, bytes);
  return CheckEcc(addr, bytes.size());
}

absl::Status IssDevice::CheckEcc(uint64_t addr, size_t bytes) {
  if (fault_ || !iss_.CheckMemory()) return absl::OkStatus();
  fault_ = iss_.fault();
  return UncorrectedStatus(addr, bytes, *fault_);
}

absl::Status IssDevice::Flip(const BitFlip& flip) {
  if (absl::Status s = CheckRange(flip.address, 1); !s.ok()) return s;
  if (preset().chip.memory != Memory::kHbm) {
    return absl::UnimplementedError(
        "bits of a DRAM at an AXI4 port cannot be turned");
  }
  if (flip.bit < 0 || flip.bit > 71) {
    return absl::OutOfRangeError(
        absl::StrFormat("bit %d at 0x%x: there are bits 0 to 71 in 8 bytes",
                        flip.bit, flip.address));
  }
  if (preset().chip.ecc == 0 && flip.bit >= 64) {
    return absl::FailedPreconditionError(
        "without ECC there are no check bits to turn");
  }
  iss_.state().hbm.Flip(flip.address, flip.bit);
  return absl::OkStatus();
}

absl::Status IssDevice::Start(const Program& program) {
  if (absl::Status s = CheckStart(program); !s.ok()) return s;
  for (const BitFlip& flip : std::exchange(options_.simulation.flips, {})) {
    if (absl::Status s = Flip(flip); !s.ok()) return s;
  }
  running_ = &program;
  ++runs_;
  stats_ = {};
  stats_.retires.reserve(program.descriptors.size());
  iss_.Start({program.prog_addr,
              static_cast<uint32_t>(program.descriptors.size()),
              program.hbm_bytes, options_.simulation.check_races, program.loops,
              program.steps});
  return absl::OkStatus();
}

void IssDevice::Join(IssDevice* second) {
  iss_.Join(&second->iss_);
  others_ = {second};
  second->others_ = {this};
}

void IssDevice::Connect(int columns, int rows,
                        const std::vector<IssDevice*>& cores) {
  std::vector<Iss*> simulators;
  for (IssDevice* core : cores) simulators.push_back(&core->iss_);
  Iss::Connect(columns, rows, simulators);
  for (IssDevice* core : cores) {
    core->others_.clear();
    for (IssDevice* other : cores)
      if (other != core) core->others_.push_back(other);
  }
}

Iss::Event IssDevice::Advance() {
  const Iss::Event event = iss_.Step();
  fault_ = iss_.fault();
  if (event == Iss::Event::kRetired &&
      iss_.last() < running_->descriptors.size()) {
    const isa::OpInfo* op = isa::FindOp(static_cast<uint8_t>(
        isa::GetBits(running_->descriptors[iss_.last()], 0, 8)));
    if (op != nullptr)
      stats_.retires.push_back({op->queue, iss_.index() - 1, 0});
  }
  return event;
}

Iss::Event IssDevice::AdvanceAll() {
  Iss::Event event = Advance();
  while (event == Iss::Event::kWaiting) {
    bool goes_on = false;
    for (IssDevice* other : others_) {
      if (other->running_ != nullptr && other->iss_.running())
        goes_on |= other->Advance() != Iss::Event::kWaiting;
    }
    if (!goes_on) {
      event = iss_.GiveUp();
      fault_ = iss_.fault();
      return event;
    }
    event = Advance();
  }
  return event;
}

absl::StatusOr<RunStats> IssDevice::Wait() {
  if (running_ == nullptr)
    return absl::FailedPreconditionError("no program was started");
  const Program& program = *running_;
  const double start = CpuSeconds();
  Iss::Event event;
  do {
    event = AdvanceAll();
    if (options_.progress && iss_.index() % kProgressInterval == 0)
      options_.progress(iss_.index());
    if (options_.stop && event == Iss::Event::kRetired && options_.stop()) {
      running_ = nullptr;
      return CancelledStatus(iss_.index());
    }
  } while (event == Iss::Event::kRetired);
  running_ = nullptr;
  RunStats stats = std::move(stats_);
  stats.host_cpu_seconds = CpuSeconds() - start;
  FillCounters(iss_.state(),
               stats.retires.size() + (event == Iss::Event::kHalted), &stats);
  stats.acc_saturated = iss_.state().acc_saturated;
  stats.ecc = iss_.state().hbm.TakeEcc();

  const RaceReport* races = iss_.races();
  const absl::Status rules =
      races != nullptr ? races->ToStatus() : absl::OkStatus();
  if (!fault_)
    return rules.ok() ? absl::StatusOr<RunStats>(std::move(stats)) : rules;
  const absl::Status status = FaultStatus(program, *fault_);
  std::string text(status.message());
  if (!iss_.fault_detail().empty())
    absl::StrAppend(&text, ": ", iss_.fault_detail());
  if (!rules.ok()) absl::StrAppend(&text, "\n", rules.message());
  return absl::Status(status.code(), text);
}

void IssDevice::ResetCore() {
  running_ = nullptr;
  fault_.reset();
  iss_.Reset();
}

absl::Status IssDevice::Reset(ResetScope scope) {
  if (scope == ResetScope::kDevice)
    for (IssDevice* other : others_) other->ResetCore();
  ResetCore();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<LinkInfo>> IssDevice::Links() {
  return absl::UnimplementedError("iss: has no links to read (only rtl has)");
}

absl::StatusOr<Waveform> IssDevice::Replay(const TraceOptions&) {
  return absl::UnimplementedError("iss: has no waveforms (only rtl has)");
}

absl::StatusOr<Waveform> IssDevice::ReplayAround(int, uint64_t,
                                                 const std::string&) {
  return Replay({});
}

}  // namespace iss

absl::StatusOr<Devices> OpenIssDevices(const DeviceOptions& options,
                                       int cores) {
  const Preset& preset = *FindPreset(options.preset);
  // Sends reach all cores, also those that are not returned.
  const bool links = preset.chip.link_bytes != 0;
  const int cores_a_chip = links ? static_cast<int>(preset.chip.cores) : cores;
  std::vector<std::unique_ptr<iss::IssDevice>> opened;
  std::vector<iss::IssDevice*> all;
  for (int chip = 0; chip < options.torus.chips(); ++chip) {
    for (int core = 0; core < cores_a_chip; ++core) {
      opened.push_back(std::make_unique<iss::IssDevice>(options, chip));
      all.push_back(opened.back().get());
      if (core == 1) all[all.size() - 2]->Join(all.back());
    }
  }
  Devices devices;
  if (links)
    iss::IssDevice::Connect(options.torus.columns, options.torus.rows, all);
  for (auto& device : opened) {
    if (cores == 1 && !devices.empty()) {
      all[0]->Keep(std::move(device));
    } else {
      devices.push_back(std::move(device));
    }
  }
  return devices;
}

}  // namespace systole
