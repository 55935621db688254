// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Code that all backends share.

#include "systole/device.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/driver/backends.h"
#include "host/driver/run_loop.h"
#include "systole/gen/hbm.h"
#include "systole/target.h"

namespace systole {
namespace {

constexpr uint64_t kBufferAlignment = 128;

uint64_t RoundUp(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Splits a tensor into pieces that are contiguous both in memory and in the
// dense layout. Calls run(address, offset in the dense tensor, bytes) for each
// piece, until a call fails.
template <typename F>
absl::Status ForEachRun(const TensorInfo& t, F run) {
  const int64_t line = t.line_bytes();
  const int64_t image = t.h * line;
  const bool dense_lines = t.pitch == line || t.h == 1;
  const bool dense_images = dense_lines && (t.img_pitch == image || t.n == 1);
  if (dense_images) return run(t.hbm_addr, 0, t.n * image);
  for (int64_t i = 0; i < t.n; ++i) {
    const uint64_t base = t.hbm_addr + i * t.img_pitch;
    if (dense_lines) {
      if (absl::Status s = run(base, i * image, image); !s.ok()) return s;
      continue;
    }
    for (int64_t y = 0; y < t.h; ++y) {
      if (absl::Status s = run(base + y * t.pitch, i * image + y * line, line);
          !s.ok())
        return s;
    }
  }
  return absl::OkStatus();
}

int64_t DenseBytes(const TensorInfo& t) {
  return t.elements() * t.element_bytes();
}

// For an ECC fault: the location of the faulty word, as text.
std::string PlaceInHbm(const Preset& preset, const FaultState& fault) {
  if (fault.cause != isa::Fault::kEccError) return "";
  const uint64_t at = fault.address % preset.memory_bytes();
  const auto beat_bytes = static_cast<uint64_t>(preset.beat_bytes());
  const hbm::Location place =
      hbm::Locate(static_cast<uint32_t>(at / beat_bytes));
  const int64_t lanes = preset.chip.hbm_pcs / 2;
  return absl::StrFormat(
      " (%spseudo-channel %d, bank %d, row %d, column %d)",
      fault.address < preset.memory_bytes() ? "" : "the other core's memory, ",
      static_cast<int64_t>(place.group) * lanes +
          static_cast<int64_t>(at % beat_bytes / hbm::kBurstBytes),
      place.bank, place.row, place.col);
}

// Checks that the chip has a processor for the user's firmware.
absl::Status CheckTakesFirmware(const std::string& backend,
                                const Preset* preset,
                                const std::string& firmware) {
  if (backend != "rtl") {
    return absl::InvalidArgumentError(
        absl::StrFormat("firmware %s: backend '%s' runs no firmware, only rtl "
                        "does",
                        firmware, backend));
  }
  if (preset->chip.smem_bytes != 0) return absl::OkStatus();
  std::vector<std::string> names;
  for (const Preset& p : kPresets)
    if (p.chip.smem_bytes != 0) names.emplace_back(p.name);
  return absl::InvalidArgumentError(absl::StrFormat(
      "firmware %s: preset '%s' has no scalar unit that runs it; those with "
      "one are %s",
      firmware, preset->name, absl::StrJoin(names, ", ")));
}

// Checks that chips of the preset can form the torus.
absl::Status CheckTorus(const Preset& preset, const Torus& torus) {
  constexpr int kMost = 32;
  if (torus.columns < 1 || torus.rows < 1 || torus.columns > kMost ||
      torus.rows > kMost) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a torus of %d x %d chips: there are 1 to %d columns and rows",
        torus.columns, torus.rows, kMost));
  }
  if (torus.chips() == 1 || preset.chip.link_bytes != 0)
    return absl::OkStatus();
  std::vector<std::string> names;
  for (const Preset& p : kPresets)
    if (p.chip.link_bytes != 0) names.emplace_back(p.name);
  return absl::InvalidArgumentError(absl::StrFormat(
      "a torus of %d x %d chips: chips of preset '%s' have no links; those "
      "that have are %s",
      torus.columns, torus.rows, preset.name, absl::StrJoin(names, ", ")));
}

// Opens the first `cores` cores of a chip; 0: all of them.
absl::StatusOr<Devices> OpenSome(const std::string& backend,
                                 const DeviceOptions& options, int cores) {
  constexpr absl::string_view kSerial = "serial:";
  const bool serial = absl::StartsWith(backend, kSerial);
  if (!options.probes.empty() && backend != "rtl")
    return absl::InvalidArgumentError(absl::StrCat(
        "backend '", backend, "' has no probe: only rtl can be profiled"));
  const Preset* preset = FindPreset(options.preset);
  if (preset == nullptr && !(serial && options.preset.empty())) {
    std::vector<std::string> names;
    for (const Preset& p : kPresets) names.emplace_back(p.name);
    return absl::InvalidArgumentError(
        absl::StrFormat("unknown preset '%s'; there are %s", options.preset,
                        absl::StrJoin(names, ", ")));
  }
  if (!options.firmware.empty()) {
    if (absl::Status s = CheckTakesFirmware(backend, preset, options.firmware);
        !s.ok())
      return s;
  }
  if (preset != nullptr) {
    if (absl::Status s = CheckTorus(*preset, options.torus); !s.ok()) return s;
  }
  if (serial) {
    if (options.torus.chips() > 1)
      return absl::InvalidArgumentError("a board is one chip");
    auto device = OpenSerialDevice(backend.substr(kSerial.size()), options);
    if (!device.ok()) return device.status();
    Devices devices;
    devices.push_back(*std::move(device));
    return devices;
  }
  if (cores == 0) cores = static_cast<int>(preset->chip.cores);
  if (backend == "rtl") return OpenRtlDevices(options, cores);
  if (backend == "iss") return OpenIssDevices(options, cores);
  return absl::InvalidArgumentError(absl::StrFormat(
      "unknown backend '%s'; there are rtl, iss, serial:PORT", backend));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> Device::Open(
    const std::string& backend, const DeviceOptions& options) {
  auto devices = OpenSome(backend, options, 1);
  if (!devices.ok()) return devices.status();
  return std::move(devices->front());
}

absl::StatusOr<std::vector<std::unique_ptr<Device>>> Device::OpenCores(
    const std::string& backend, const DeviceOptions& options) {
  return OpenSome(backend, options, 0);
}

absl::StatusOr<uint64_t> Device::Allocate(uint64_t bytes) {
  const uint64_t capacity = preset().memory_bytes();
  const uint64_t begin = RoundUp(next_free_, kBufferAlignment);
  if (begin > capacity || bytes > capacity - begin) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "no room for a buffer of %d bytes: %d of %d bytes of HBM are in use",
        bytes, next_free_, capacity));
  }
  next_free_ = begin + bytes;
  return begin;
}

absl::Status Device::Load(const Program& program) {
  if (program.preset != preset().name) {
    return absl::FailedPreconditionError(
        absl::StrFormat("program made for preset '%s', device is '%s'",
                        program.preset, preset().name));
  }
  if (!program.loops.empty() && preset().chip.smem_bytes == 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the program has loops, and preset '%s' no scalar unit: unroll it",
        program.preset));
  }
  for (size_t i = 0; i < program.descriptors.size(); ++i) {
    const auto opcode =
        static_cast<uint8_t>(isa::GetBits(program.descriptors[i], 0, 8));
    const isa::OpInfo* op = isa::FindOp(opcode);
    if (op != nullptr && !Target(preset()).Executes(*op)) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "descriptor %d: preset '%s' has the %s cell, whose cores lack '%s'",
          i, preset().name, preset().cell_name(), op->name));
    }
  }
  for (const DataSegment& segment : program.segments) {
    if (absl::Status s = Write(segment.hbm_addr, segment.data); !s.ok()) {
      return absl::Status(s.code(), absl::StrCat("data segment '", segment.name,
                                                 "': ", s.message()));
    }
  }
  std::vector<uint8_t> bytes;
  bytes.reserve(program.descriptors.size() * isa::kDescriptorBytes);
  for (const isa::Descriptor& d : program.descriptors) {
    for (uint64_t word : d) {
      for (int i = 0; i < 8; ++i)
        bytes.push_back(static_cast<uint8_t>(word >> (8 * i)));
    }
  }
  if (absl::Status s = Write(program.prog_addr, bytes); !s.ok()) {
    return absl::Status(s.code(), absl::StrCat("descriptors: ", s.message()));
  }
  next_free_ = std::max(next_free_, program.hbm_bytes);
  return absl::OkStatus();
}

absl::Status Device::WriteTensor(const TensorInfo& tensor,
                                 absl::Span<const uint8_t> dense) {
  if (static_cast<int64_t>(dense.size()) != DenseBytes(tensor)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "tensor '%s' has %d bytes (%d x %d x %d x %d), %d were given",
        tensor.name, DenseBytes(tensor), tensor.n, tensor.h, tensor.w,
        tensor.channels, dense.size()));
  }
  return ForEachRun(tensor, [&](uint64_t addr, int64_t offset, int64_t bytes) {
    return Write(addr, dense.subspan(offset, bytes));
  });
}

absl::StatusOr<std::vector<uint8_t>> Device::ReadTensor(
    const TensorInfo& tensor) {
  std::vector<uint8_t> dense(DenseBytes(tensor));
  absl::Status s =
      ForEachRun(tensor, [&](uint64_t addr, int64_t offset, int64_t bytes) {
        return Read(addr, absl::MakeSpan(dense).subspan(offset, bytes));
      });
  if (!s.ok())
    return absl::Status(
        s.code(), absl::StrCat("tensor '", tensor.name, "': ", s.message()));
  return dense;
}

absl::StatusOr<std::vector<LinkInfo>> Device::Links() {
  return absl::UnimplementedError(
      absl::StrCat(backend(), ": has no links to read"));
}

absl::Status Device::Flip(const BitFlip&) {
  return absl::UnimplementedError(
      absl::StrCat(backend(), ": bits of its memory cannot be turned"));
}

void RunStats::Add(const RunStats& other) {
  cycles += other.cycles;
  host_cpu_seconds += other.host_cpu_seconds;
  acc_saturated = acc_saturated || other.acc_saturated;
  ecc.Add(other.ecc);
  for (size_t i = 0; i < counters.size(); ++i) counters[i] += other.counters[i];
}

absl::StatusOr<RunStats> Device::Run(const Program& program) {
  if (absl::Status s = Load(program); !s.ok()) return s;
  return RunLoaded(*this, program);
}

absl::Status Device::FaultStatus(const Program& program,
                                 const FaultState& fault) const {
  const size_t cause = static_cast<size_t>(fault.cause);
  std::string text = backend() + ": fault ";
  if (cause < isa::kFaults.size()) {
    absl::StrAppendFormat(&text, "%s (%s)", isa::kFaults[cause].name,
                          isa::kFaults[cause].doc);
  } else {
    absl::StrAppend(&text, "of unknown cause ", cause);
  }
  absl::StrAppendFormat(&text, " at descriptor %d of %d", fault.index,
                        program.descriptors.size());
  if (fault.index < program.descriptors.size()) {
    const isa::Descriptor& d = program.descriptors[fault.index];
    const size_t tag = isa::Halt::Decode(d).header.tag;
    if (tag < program.layers.size())
      absl::StrAppend(&text, " (layer '", program.layers[tag].name, "')");
    absl::StrAppend(&text, ": ", Disassemble(d));
  }
  if (!program.loops.empty())
    absl::StrAppendFormat(&text, ", the %d. to come", fault.instance + 1);
  absl::StrAppendFormat(
      &text, "; %s, address 0x%x%s, cycle %d",
      fault.queue < isa::kQueueNames.size()
          ? "queue " + std::string(isa::kQueueNames[fault.queue])
          : std::string("sequencer"),
      fault.address, PlaceInHbm(preset(), fault), fault.cycle);
  return absl::AbortedError(text);
}

absl::Status Device::UncorrectedStatus(uint64_t addr, size_t bytes,
                                       const FaultState& fault) const {
  const auto& info = isa::kFaults[static_cast<size_t>(fault.cause)];
  return absl::DataLossError(absl::StrFormat(
      "%s: fault %s (%s) when the host read %d bytes at 0x%x; address 0x%x%s",
      backend(), info.name, info.doc, bytes, addr, fault.address,
      PlaceInHbm(preset(), fault)));
}

absl::StatusOr<Waveform> Device::Replay(const TraceOptions&) {
  return absl::UnimplementedError(
      absl::StrCat(backend(), ": has no waveforms (only rtl has)"));
}

absl::StatusOr<Waveform> Device::ReplayAround(int, uint64_t,
                                              const std::string&) {
  return Replay({});
}

absl::Status Device::CancelledStatus(uint64_t done) const {
  return absl::CancelledError(
      absl::StrFormat("%s: the program was stopped after %d %s", backend(),
                      done, backend() == "iss" ? "descriptors" : "cycles"));
}

}  // namespace systole
