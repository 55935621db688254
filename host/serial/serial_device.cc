// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The chip's registers and memory through the link. Where a simulator watches
// the interrupt line, this reads the state register.

#include "host/serial/serial_device.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "host/driver/backends.h"

namespace systole::serial {
namespace {

constexpr uint32_t kChipId = 0x53595354;  // "SYST"

std::string PresetName(uint32_t id) {
  for (const Preset& p : kPresets)
    if (static_cast<uint32_t>(p.id) == id) return std::string(p.name);
  return absl::StrCat("number ", id);
}

// The preset of the chip behind the link. kFailedPrecondition: another one than
// `wanted` (empty: any), or none of this project's.
absl::StatusOr<const Preset*> ReadPreset(Link& link,
                                         const std::string& wanted) {
  auto id = link.ReadRegister(csr::kId);
  if (!id.ok()) return id.status();
  if (*id != kChipId)
    return absl::FailedPreconditionError(absl::StrFormat(
        "the board answers, but its chip is not this project's (0x%08x)", *id));
  auto number = link.ReadRegister(csr::kPreset);
  if (!number.ok()) return number.status();
  const std::string name = PresetName(*number);
  const Preset* preset = FindPreset(name);
  if (preset == nullptr || (!wanted.empty() && name != wanted))
    return absl::FailedPreconditionError(absl::StrFormat(
        "the board has preset '%s', asked was '%s'", name, wanted));
  return preset;
}

}  // namespace

absl::StatusOr<Address> ParseAddress(const std::string& text) {
  Address address;
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  address.path = parts[0];
  bool good = !address.path.empty();
  for (size_t i = 1; i < parts.size() && good; ++i) {
    const std::pair<std::string, std::string> option =
        absl::StrSplit(parts[i], absl::MaxSplits('=', 1));
    if (option.first == "baud") {
      good = absl::SimpleAtoi(option.second, &address.baud);
    } else if (option.first == "timeout") {
      good = absl::SimpleAtod(option.second, &address.timeout) &&
             address.timeout > 0;
    } else {
      good = false;
    }
  }
  if (!good)
    return absl::InvalidArgumentError(absl::StrFormat(
        "'serial:%s': wanted serial:DEVICE, with ,baud=RATE and "
        ",timeout=SECONDS behind it if need be",
        text));
  return address;
}

absl::StatusOr<std::unique_ptr<SerialDevice>> SerialDevice::Open(
    const Address& address, const DeviceOptions& options) {
  auto port = OpenPort(address.path, address.baud);
  if (!port.ok()) return port.status();
  return OpenOn(std::move(*port), address, options);
}

absl::StatusOr<std::unique_ptr<SerialDevice>> SerialDevice::OpenOn(
    std::unique_ptr<Port> port, const Address& address,
    const DeviceOptions& options) {
  const auto named = [&address](const absl::Status& s) {
    return absl::Status(s.code(),
                        absl::StrCat(address.path, ": ", s.message()));
  };
  LinkOptions link_options;
  link_options.timeout = address.timeout;
  link_options.progress = options.transfer;
  link_options.stop = options.stop;
  Link link(std::move(port), std::move(link_options));
  const auto info = link.Hello();
  if (!info.ok()) return named(info.status());
  const auto preset = ReadPreset(link, options.preset);
  if (!preset.ok()) return named(preset.status());
  auto device = std::unique_ptr<SerialDevice>(
      new SerialDevice(std::move(link), *info, **preset, options));
  if (absl::Status s = device->Configure(); !s.ok()) return named(s);
  return device;
}

absl::Status SerialDevice::Configure() {
  // What an earlier process left running or frozen ends here.
  auto state = link_.ReadRegister(csr::kStatus);
  if (!state.ok()) return state.status();
  if ((*state & (csr::kStatusRunning | csr::kStatusFault)) != 0)
    if (absl::Status s = Reset(ResetScope::kCore); !s.ok()) return s;
  if (options_.watchdog != 0)
    if (absl::Status s = link_.WriteRegister(csr::kWatchdog, options_.watchdog);
        !s.ok())
      return s;
  return link_.WriteRegister(csr::kIrqEnable, csr::kIrqDone | csr::kIrqFault);
}

absl::Status SerialDevice::CheckRange(uint64_t addr, size_t bytes) const {
  const uint64_t capacity = preset().memory_bytes();
  if (addr <= capacity && bytes <= capacity - addr) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrFormat("%d bytes at 0x%x end beyond the memory of %d bytes",
                      bytes, addr, capacity));
}

absl::Status SerialDevice::Write(uint64_t addr,
                                 absl::Span<const uint8_t> bytes) {
  if (absl::Status s = CheckRange(addr, bytes.size()); !s.ok()) return s;
  return link_.WriteMemory(addr, bytes);
}

absl::Status SerialDevice::Read(uint64_t addr, absl::Span<uint8_t> bytes) {
  if (absl::Status s = CheckRange(addr, bytes.size()); !s.ok()) return s;
  return link_.ReadMemory(addr, bytes);
}

absl::Status SerialDevice::Start(const Program& program) {
  if (absl::Status s = CheckStart(program); !s.ok()) return s;
  const std::pair<uint32_t, uint64_t> words[] = {
      {csr::kProgAddrLo, program.prog_addr},
      {csr::kProgAddrHi, program.prog_addr >> 32},
      {csr::kProgLen, program.descriptors.size()},
      {csr::kHbmLimitLo, program.hbm_bytes},
      {csr::kHbmLimitHi, program.hbm_bytes >> 32},
      {csr::kIrq, csr::kIrqDone | csr::kIrqFault},
      {csr::kCtrl, csr::kCtrlStart},
  };
  for (const auto& [offset, value] : words)
    if (absl::Status s =
            link_.WriteRegister(offset, static_cast<uint32_t>(value));
        !s.ok())
      return s;
  running_ = &program;
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> SerialDevice::WaitForEnd(RunStats& stats) {
  uint64_t sample_at = options_.sample_cycles;
  while (true) {
    auto state = link_.ReadRegister(csr::kStatus);
    if (!state.ok()) return state.status();
    if ((*state & (csr::kStatusDone | csr::kStatusFault)) != 0) return *state;
    if (options_.progress || options_.stop || sample_at != 0) {
      auto cycles = Read64(csr::kCounterBase);
      if (!cycles.ok()) return cycles.status();
      if (options_.progress) options_.progress(*cycles);
      if (options_.stop && options_.stop()) return CancelledStatus(*cycles);
      if (sample_at == 0 || *cycles < sample_at) continue;
      CounterSample sample;
      for (int i = 0; i < csr::kNumCounters; ++i) {
        auto value = link_.ReadRegister(csr::kCounterBase + 8 * i);
        if (!value.ok()) return value.status();
        sample.counters[i] = *value;
      }
      sample.cycle = *cycles;
      stats.samples.push_back(sample);
      sample_at = *cycles + options_.sample_cycles;
    }
  }
}

absl::StatusOr<RunStats> SerialDevice::Wait() {
  if (running_ == nullptr)
    return absl::FailedPreconditionError("no program was started");
  const Program& program = *std::exchange(running_, nullptr);
  RunStats stats;
  auto state = WaitForEnd(stats);
  if (!state.ok()) return state.status();
  if (absl::Status s =
          link_.WriteRegister(csr::kIrq, csr::kIrqDone | csr::kIrqFault);
      !s.ok())
    return s;
  if ((*state & csr::kStatusFault) != 0) {
    auto fault = ReadFault();
    if (!fault.ok()) return fault.status();
    fault_ = *fault;
    return FaultStatus(program, *fault_);
  }
  for (int i = 0; i < csr::kNumCounters; ++i) {
    auto value = Read64(csr::kCounterBase + 8 * i);
    if (!value.ok()) return value.status();
    stats.counters[i] = *value;
  }
  auto saturated = link_.ReadRegister(csr::kAccSaturated);
  if (!saturated.ok()) return saturated.status();
  stats.acc_saturated = *saturated != 0;
  stats.cycles = stats.counter(csr::Counter::kCycles);
  return stats;
}

absl::StatusOr<uint64_t> SerialDevice::Read64(uint32_t offset) {
  auto low = link_.ReadRegister(offset);
  if (!low.ok()) return low.status();
  auto high = link_.ReadRegister(offset + 4);
  if (!high.ok()) return high.status();
  return static_cast<uint64_t>(*high) << 32 | *low;
}

absl::StatusOr<FaultState> SerialDevice::ReadFault() {
  auto cause = link_.ReadRegister(csr::kFaultCause);
  auto queue = link_.ReadRegister(csr::kFaultQueue);
  auto index = link_.ReadRegister(csr::kFaultPc);
  auto address = Read64(csr::kFaultAddrLo);
  auto cycle = Read64(csr::kFaultCycleLo);
  for (const absl::Status& status :
       {cause.status(), queue.status(), index.status(), address.status(),
        cycle.status()}) {
    if (!status.ok()) return status;
  }
  FaultState fault;
  fault.cause = static_cast<isa::Fault>(*cause);
  fault.queue = *queue;
  fault.index = *index;
  fault.address = *address;
  fault.cycle = *cycle;
  return fault;
}

absl::StatusOr<uint32_t> SerialDevice::ReadStatus() {
  return link_.ReadRegister(csr::kStatus);
}

absl::Status SerialDevice::Reset(ResetScope) {
  running_ = nullptr;
  if (absl::Status s = link_.WriteRegister(csr::kCtrl, csr::kCtrlReset);
      !s.ok())
    return s;
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    auto state = link_.ReadRegister(csr::kStatus);
    if (!state.ok()) return state.status();
    if ((*state & csr::kStatusResetting) == 0) {
      fault_.reset();
      return absl::OkStatus();
    }
  }
  return absl::DeadlineExceededError(
      "the chip's reset does not end: its memory does not answer");
}

}  // namespace systole::serial

namespace systole {

absl::StatusOr<std::unique_ptr<Device>> OpenSerialDevice(
    const std::string& address, const DeviceOptions& options) {
  auto parsed = serial::ParseAddress(address);
  if (!parsed.ok()) return parsed.status();
  auto device = serial::SerialDevice::Open(*parsed, options);
  if (!device.ok()) return device.status();
  return std::unique_ptr<Device>(std::move(*device));
}

}  // namespace systole
