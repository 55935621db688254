// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What is built on a backend's Write, Read, Start and Wait.

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

}  // namespace

Device::Device(const Preset& preset, std::string backend, int chip,
               Simulator* simulator)
    : preset_(preset),
      backend_(std::move(backend)),
      chip_(chip),
      simulator_(simulator) {}

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

absl::Status Device::CheckStart(const Program& program) const {
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
  return absl::OkStatus();
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

absl::Status Device::CancelledStatus(uint64_t done) const {
  return absl::CancelledError(
      absl::StrFormat("%s: the program was stopped after %d %s", backend(),
                      done, backend() == "iss" ? "descriptors" : "cycles"));
}

}  // namespace systole
