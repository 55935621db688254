// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/core.h"

#include <utility>

#include "host/compiler/kernels/shard_lowering.h"
#include "host/driver/run_loop.h"
#include "host/runtime/guarded.h"

namespace systole::runtime {
namespace {

// Of the memory, for programs that stay.
constexpr int64_t kResidentShare = 32;

}  // namespace

void CoreWork::Add(const CoreWork& other) {
  programs += other.programs;
  stats.Add(other.stats);
  exchanges += other.exchanges;
  exchange_cycles += other.exchange_cycles;
  exchanges_beside += other.exchanges_beside;
  upload_bytes += other.upload_bytes;
  program_bytes += other.program_bytes;
  download_bytes += other.download_bytes;
}

Core::Core(CoreOptions options, Board* board, int number)
    : options_(std::move(options)),
      board_(board),
      number_(number),
      pool_(std::make_shared<MemoryPool>(
          product_bytes(), preset().memory_bytes(),
          static_cast<uint64_t>(lanes::ValueAlignment(preset())))),
      resident_(static_cast<int64_t>(preset().memory_bytes()) /
                kResidentShare) {}

absl::StatusOr<systole::Device*> Core::Open() {
  if (device_ != nullptr) return device_.load();
  if (board_ != nullptr) {
    absl::StatusOr<systole::Device*> device = board_->Open(number_);
    if (!device.ok()) return device.status();
    device_ = *device;
  } else {
    DeviceOptions options = options_.device;
    options.preset = options_.preset;
    absl::StatusOr<std::unique_ptr<systole::Device>> device =
        systole::Device::Open(options_.backend, options);
    if (!device.ok()) return device.status();
    own_ = *std::move(device);
    device_ = own_.get();
  }
  return device_.load();
}

absl::Status Core::Use(
    const std::function<absl::Status(systole::Device&)>& use) {
  const auto open = [&] {
    const absl::StatusOr<systole::Device*> device = Open();
    return device.ok() ? use(**device) : device.status();
  };
  if (board_ != nullptr) return board_->Access(number_, open);
  const std::lock_guard<std::mutex> lock(mutex_);
  return open();
}

absl::Status Core::Read(uint64_t address, absl::Span<uint8_t> bytes) {
  downloads_ += static_cast<int64_t>(bytes.size());
  return Use([&](systole::Device& device) {
    const absl::Status s = device.Read(address, bytes);
    if (device.fault()) device.Reset(ResetScope::kCore).IgnoreError();
    return s;
  });
}

absl::Status Core::Write(uint64_t address, absl::Span<const uint8_t> bytes) {
  return Use(
      [&](systole::Device& device) { return device.Write(address, bytes); });
}

absl::StatusOr<std::shared_ptr<DeviceMemory>> Core::Allocate(int64_t bytes) {
  absl::StatusOr<uint64_t> address = pool_->Allocate(bytes);
  if (!address.ok() && resident_.Clear()) address = pool_->Allocate(bytes);
  if (!address.ok()) return address.status();
  return std::make_shared<DeviceMemory>(pool_, *address);
}

absl::StatusOr<std::shared_ptr<DeviceMemory>> Core::Resident(
    std::vector<uint8_t> bytes) {
  if (auto memory = resident_.Find(bytes)) return memory;
  auto memory = Allocate(static_cast<int64_t>(bytes.size()));
  if (!memory.ok()) return memory;
  if (absl::Status s = Write((*memory)->address(), bytes); !s.ok()) return s;
  work_.program_bytes += static_cast<int64_t>(bytes.size());
  resident_.Add(std::move(bytes), *memory);
  return memory;
}

absl::Status Core::Run(const Program& program, bool exchanges) {
  if (has_listener()) {
    options_.listener->Starts(program);
    if (board_ != nullptr)
      options_.listener->Round(board_->rounds(), exchanges);
  }
  absl::StatusOr<RunStats> stats;
  if (board_ != nullptr) {
    stats = Guarded([&] { return board_->Run(number_, program); });
  } else {
    const std::lock_guard<std::mutex> lock(mutex_);
    stats = Guarded([&] { return RunLoaded(*device_.load(), program); });
  }
  if (!stats.ok()) {
    absl::Status status = stats.status();
    resident_.Clear();  // a fault may have come from there
    Use([&](systole::Device& device) {
      if (has_listener())
        status = options_.listener->Failed(device, std::move(status));
      // Else the board does.
      return board_ == nullptr ? device.Reset(ResetScope::kCore)
                               : absl::OkStatus();
    }).IgnoreError();
    return status;
  }
  ++work_.programs;
  work_.stats.Add(*stats);
  if (exchanges) {
    ++work_.exchanges;
    work_.exchange_cycles += stats->cycles;
  }
  if (has_listener()) options_.listener->Ended(*stats);
  return absl::OkStatus();
}

}  // namespace systole::runtime
