// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "host/scalar/command_queue.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "firmware/scalar/boot.h"
#include "host/scalar/tables.h"
#include "systole/gen/csr.h"

namespace systole::scalar {
namespace {

constexpr uint32_t kLogEntries = 64;
constexpr uint64_t kPage = 4096;         // of scalar.boot_addr
constexpr uint64_t kImageBytes = 16384;  // at least, in HBM
constexpr uint64_t kBootCycles = 4000000;
constexpr int kBootInterrupts = 1000;

template <typename T>
absl::Span<const uint8_t> Bytes(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof value};
}

void Put(uint32_t (&words)[2], uint64_t addr) {
  words[0] = static_cast<uint32_t>(addr);
  words[1] = static_cast<uint32_t>(addr >> 32);
}

std::string StateError(uint32_t state) {
  switch (state & 0xFF) {
    case BOOT_STATE_BAD_SMEM:
      return "the march test of SMEM failed";
    case BOOT_STATE_BAD_IMAGE:
      return "the image in HBM is none, or too large";
    case BOOT_STATE_BAD_SUM:
      return "the image's sum is wrong";
    case BOOT_STATE_BAD_ECC:
      return "SMEM does not correct single-bit errors";
    case BOOT_STATE_BAD_CORE:
      return "the core's known answer is wrong";
    case BOOT_STATE_TRAP:
      return state >> 8 == 0 ? "a trap before the firmware had set mtvec"
                             : absl::StrFormat("the firmware trapped, cause %d",
                                               state >> 8);
    default:
      return "";
  }
}

}  // namespace

CommandQueue::CommandQueue(Port* port, const BootOptions& options)
    : port_(port), entries_(options.entries) {
  stride_ = static_cast<uint32_t>(std::max<uint64_t>(64, port->beat_bytes()));
  base_ = port->memory_bytes() - kReserved;
  const uint64_t image = 4 * options.firmware.size();
  commands_ =
      base_ + std::max(kImageBytes, (image + kPage - 1) / kPage * kPage);
  completions_ = commands_ + uint64_t{entries_} * stride_;
  log_ = completions_ + uint64_t{entries_} * stride_;
  tables_ = log_ + uint64_t{kLogEntries} * stride_;
  if (tables_ < base_ + kPrograms)
    places_.resize((base_ + kPrograms - tables_) / kTableBytes);
}

absl::StatusOr<std::unique_ptr<CommandQueue>> CommandQueue::Boot(
    Port* port, const BootOptions& options) {
  auto queue = BeginBoot(port, options);
  if (!queue.ok()) return queue;
  absl::Status status = (*queue)->Ready();
  if (!status.ok()) return status;
  return queue;
}

absl::StatusOr<std::unique_ptr<CommandQueue>> CommandQueue::BeginBoot(
    Port* port, const BootOptions& options) {
  if (options.entries == 0 || (options.entries & (options.entries - 1)) ||
      options.entries > MAX_ENTRIES) {
    return absl::InvalidArgumentError(
        absl::StrCat("a ring has a power of two entries, at most ", MAX_ENTRIES,
                     ", not ", options.entries));
  }
  std::unique_ptr<CommandQueue> queue(new CommandQueue(port, options));
  if (queue->places_.size() < queue->entries_) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the image of %d bytes, rings of %d entries and the tables of their "
        "launches take more than the %d bytes that are set aside",
        4 * options.firmware.size(), options.entries, kPrograms));
  }
  absl::Status status = queue->Start(options);
  if (!status.ok()) return status;
  return queue;
}

absl::Status CommandQueue::Start(const BootOptions& options) {
  auto smem = port_->ReadRegister(csr::kScalarSmemBytes);
  if (!smem.ok()) return smem.status();
  if (*smem == 0) {
    return absl::UnimplementedError("this chip has no scalar unit");
  }
  ImageOptions known = options.known;
  known.commands = commands_;
  known.completions = completions_;
  known.log = log_;
  known.entries = entries_;
  known.stride = stride_;
  known.log_entries = kLogEntries;
  auto image = MakeImage(
      options.firmware.empty() ? FirmwareWords() : options.firmware, known);
  if (!image.ok()) return image.status();
  if (4 * image->size() > commands_ - base_) {
    return absl::InternalError("the firmware is larger than its place in HBM");
  }
  absl::Status status = port_->WriteMemory(
      base_,
      {reinterpret_cast<const uint8_t*>(image->data()), 4 * image->size()});
  // Tags and numbers that no earlier boot has left.
  const std::vector<uint8_t> zeros(tables_ - commands_);
  if (status.ok()) status = port_->WriteMemory(commands_, zeros);
  for (const auto& [address, bytes] : options.data) {
    if (status.ok()) status = port_->WriteMemory(address, bytes);
  }
  const uint32_t flags = (options.test_smem ? BOOT_TEST_SMEM : 0) |
                         (options.test_core ? BOOT_TEST_CORE : 0);
  const std::pair<uint32_t, uint32_t> words[] = {
      {csr::kScalarRun, 0},
      {csr::kScalarBootAddr, static_cast<uint32_t>(base_ / kPage)},
      {csr::kScalarBootFlags, flags},
      {csr::kIrq, csr::kIrqScalar},
      {csr::kIrqEnable, csr::kIrqScalar},
      {csr::kScalarRun, 1}};
  for (const auto& [offset, value] : words) {
    if (status.ok()) status = port_->WriteRegister(offset, value);
  }
  return status;
}

absl::Status CommandQueue::Ready() {
  absl::Status status = WaitReady();
  if (!absl::IsDeadlineExceeded(status)) return status;
  auto state = port_->ReadRegister(csr::kScalarState);
  if (!state.ok()) return state.status();
  return absl::InternalError(absl::StrFormat(
      "scalar unit: the firmware is not ready: %d cycles without an interrupt, "
      "scalar.state is %d; it has to write %d to state, then host_irq",
      kBootCycles, *state, BOOT_STATE_READY));
}

absl::Status CommandQueue::WaitReady() {
  for (int interrupts = 0;; ++interrupts) {
    auto state = port_->ReadRegister(csr::kScalarState);
    if (!state.ok()) return state.status();
    if (*state == BOOT_STATE_READY) break;
    if (const std::string error = StateError(*state); !error.empty()) {
      return absl::InternalError(absl::StrCat("scalar unit: ", error));
    }
    if (*state == BOOT_STATE_STOPPED) {
      auto completed = port_->ReadRegister(csr::kScalarCompleted);
      if (!completed.ok()) return completed.status();
      return absl::InternalError(absl::StrFormat(
          "scalar unit: the firmware stopped before it was ready; "
          "scalar.completed is %d (0x%x)",
          *completed, *completed));
    }
    absl::Status status =
        interrupts < kBootInterrupts
            ? port_->WaitInterrupt(kBootCycles)
            : absl::InternalError(absl::StrFormat(
                  "scalar unit: the firmware has raised %d interrupts and is "
                  "not ready",
                  interrupts));
    if (!status.ok()) return status;
    status = port_->WriteRegister(csr::kIrq, csr::kIrqScalar);
    if (!status.ok()) return status;
  }
  return port_->WriteRegister(csr::kIrq, csr::kIrqScalar);
}

absl::Status CommandQueue::Ring(uint32_t request) {
  return port_->WriteRegister(
      csr::kScalarDoorbell,
      (submitted_ & DOORBELL_COUNT_MASK) | request << DOORBELL_REQUEST_SHIFT);
}

absl::Status CommandQueue::WriteCommand(const command& c) {
  const uint64_t place = uint64_t{submitted_ & (entries_ - 1)} * stride_;
  absl::Status status = port_->WriteMemory(commands_ + place, Bytes(c));
  if (!status.ok()) return status;
  submitted_++;
  waiting_.insert(submitted_);
  return Ring(REQUEST_NONE);
}

uint32_t CommandQueue::room() const {
  const uint32_t oldest = waiting_.empty() ? submitted_ + 1 : *waiting_.begin();
  return entries_ - (submitted_ + 1 - oldest);
}

// That of the ring's entry if it is free: launches of one chapter do not meet.
std::optional<size_t> CommandQueue::FreePlaces(size_t count) const {
  const size_t own = submitted_ & (entries_ - 1);
  for (size_t i = 0; i < places_.size(); ++i) {
    const size_t first = (own + i) % places_.size();
    if (first + count > places_.size()) continue;
    const auto begin = places_.begin() + static_cast<ptrdiff_t>(first);
    const auto end = begin + static_cast<ptrdiff_t>(count);
    if (std::all_of(begin, end, [](uint32_t tag) { return tag == 0; }))
      return first;
  }
  return std::nullopt;
}

absl::StatusOr<uint32_t> CommandQueue::Send(command c,
                                            absl::Span<const uint8_t> tables) {
  absl::Status status = Refresh();
  if (!status.ok()) return status;
  if (room() == 0) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("%d programs are in flight, or wait for launch %d",
                        entries_, *waiting_.begin()));
  }
  if (!tables.empty()) {
    const size_t count = (tables.size() + kTableBytes - 1) / kTableBytes;
    if (count > places_.size())
      return absl::InvalidArgumentError(
          absl::StrFormat("%d bytes of tables, more than %d", tables.size(),
                          places_.size() * kTableBytes));
    const std::optional<size_t> first = FreePlaces(count);
    if (!first)
      return absl::ResourceExhaustedError(absl::StrFormat(
          "%d bytes of tables have no room beside those of %d programs",
          tables.size(), waiting_.size()));
    const uint64_t place = tables_ + *first * kTableBytes;
    Put(c.tables, place);
    status = port_->WriteMemory(place, tables);
    if (!status.ok()) return status;
    std::fill_n(places_.begin() + static_cast<ptrdiff_t>(*first), count,
                submitted_ + 1);
  }
  c.tag = submitted_ + 1;
  status = WriteCommand(c);
  if (!status.ok()) return status;
  return c.tag;
}

absl::StatusOr<uint32_t> CommandQueue::Submit(const Launch& launch) {
  const auto tables = PackTables(launch);
  if (!tables.ok()) return tables.status();
  if (launch.context != 0 && contexts_.count(launch.context) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no context ", launch.context));
  }
  if (launch.after > submitted_) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a launch behind launch %d, of %d", launch.after, submitted_));
  }
  command c = {};
  c.kind = COMMAND_RUN;
  Put(c.program, launch.program);
  c.length = launch.length;
  // What reaches the other core's memory reaches past this one's end, too.
  const bool both = launch.limit > port_->memory_bytes();
  Put(c.limit, both                ? launch.limit
               : launch.limit == 0 ? base_
                                   : std::min(launch.limit, base_));
  c.watchdog = launch.watchdog;
  c.timeout = launch.timeout;
  c.repeat = launch.repeat;
  c.context = launch.context;
  c.priority = launch.priority;
  c.after = launch.after;
  c.counts = tables->counts;
  return Send(c, tables->bytes);
}

// Launches end in the order of their priorities: those that have ended are
// looked for, the oldest first.
absl::Status CommandQueue::Refresh() {
  auto state = port_->ReadRegister(csr::kScalarState);
  if (!state.ok()) return state.status();
  if (const std::string error = StateError(*state); !error.empty()) {
    return absl::InternalError(absl::StrCat("scalar unit: ", error));
  }
  auto completed = port_->ReadRegister(csr::kScalarCompleted);
  if (!completed.ok()) return completed.status();
  for (auto it = waiting_.begin();
       it != waiting_.end() && completed_ != *completed;) {
    completion c;
    absl::Status status = port_->ReadMemory(
        completions_ + uint64_t{(*it - 1) & (entries_ - 1)} * stride_,
        {reinterpret_cast<uint8_t*>(&c), sizeof c});
    if (!status.ok()) return status;
    if (c.tag != *it) {
      ++it;
      continue;
    }
    ended_[c.tag] = c;
    completed_++;
    std::replace(places_.begin(), places_.end(), c.tag, 0u);
    it = waiting_.erase(it);
  }
  while (ended_.size() > 2 * entries_) ended_.erase(ended_.begin());
  if (completed_ == *completed) return absl::OkStatus();
  return absl::InternalError(
      absl::StrFormat("the firmware says %d launches are complete, the "
                      "completions of %d are there",
                      *completed, completed_));
}

absl::StatusOr<std::optional<completion>> CommandQueue::Poll(uint32_t tag) {
  absl::Status status = Refresh();
  if (!status.ok()) return status;
  if (waiting_.count(tag) != 0) return std::optional<completion>();
  const auto found = ended_.find(tag);
  if (found != ended_.end()) return std::optional<completion>(found->second);
  return absl::InvalidArgumentError(
      absl::StrFormat("no launch %d: %d were submitted, the last %d are known",
                      tag, submitted_, 2 * entries_));
}

absl::StatusOr<completion> CommandQueue::Wait(uint32_t tag, uint64_t cycles) {
  while (true) {
    auto done = Poll(tag);
    if (!done.ok()) return done.status();
    absl::Status status = absl::OkStatus();
    if (done->has_value()) {
      status = port_->WriteRegister(csr::kIrq, csr::kIrqScalar);
      if (!status.ok()) return status;
      return **done;
    }
    status = port_->WaitInterrupt(cycles);
    if (status.ok()) {
      status = port_->WriteRegister(csr::kIrq, csr::kIrqScalar);
    }
    if (!status.ok()) return status;
  }
}

absl::Status CommandQueue::Cancel() { return Ring(REQUEST_CANCEL); }

absl::Status CommandQueue::Stop(uint64_t cycles) {
  command c = {};
  c.kind = COMMAND_STOP;
  auto tag = Send(c, {});
  while (absl::IsResourceExhausted(tag.status())) {
    auto freed = Wait(*waiting_.begin(), cycles);
    if (!freed.ok()) return freed.status();
    tag = Send(c, {});
  }
  if (!tag.ok()) return tag.status();
  auto done = Wait(*tag, cycles);
  if (!done.ok()) return done.status();
  return port_->WriteRegister(csr::kScalarRun, 0);
}

absl::StatusOr<std::vector<LogLine>> CommandQueue::ReadLog(uint64_t cycles) {
  if (cycles != 0) {
    absl::Status status = Refresh();
    if (status.ok() && !waiting_.empty()) {
      status = absl::FailedPreconditionError(
          "the log is read while nothing is in flight");
    }
    if (status.ok()) status = port_->WriteRegister(csr::kIrq, csr::kIrqScalar);
    if (status.ok()) status = Ring(REQUEST_LOG);
    if (status.ok()) status = port_->WaitInterrupt(cycles);
    if (status.ok()) status = port_->WriteRegister(csr::kIrq, csr::kIrqScalar);
    if (!status.ok()) return status;
  }
  std::vector<uint8_t> bytes(uint64_t{kLogEntries} * stride_);
  absl::Status status = port_->ReadMemory(log_, absl::MakeSpan(bytes));
  if (!status.ok()) return status;
  std::vector<LogLine> lines;
  for (uint32_t i = 0; i < kLogEntries; i++) {
    log_entry e;
    std::memcpy(&e, &bytes[uint64_t{i} * stride_], sizeof e);
    if (e.number == 0) continue;
    lines.push_back({e.number, e.time, e.event, {e.value[0], e.value[1]}});
  }
  std::sort(lines.begin(), lines.end(), [](const LogLine& a, const LogLine& b) {
    return a.number < b.number;
  });
  return lines;
}

}  // namespace systole::scalar
