// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/core.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "host/compiler/kernels/shard_lowering.h"
#include "host/driver/run_loop.h"
#include "host/runtime/guarded.h"

namespace systole::runtime {

MemoryPool::MemoryPool(uint64_t begin, uint64_t end, uint64_t align)
    : begin_((begin + align - 1) / align * align), end_(end), align_(align) {}

absl::StatusOr<uint64_t> MemoryPool::Allocate(uint64_t bytes) {
  const uint64_t size =
      (std::max<uint64_t>(bytes, 1) + align_ - 1) / align_ * align_;
  const std::lock_guard<std::mutex> lock(mutex_);
  uint64_t at = begin_;
  for (const auto& [address, end] : used_) {
    if (address - at >= size) break;
    at = end;
  }
  if (end_ < at || end_ - at < size) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("no room for %d bytes in the device's memory: values "
                        "may have %d bytes of it, %d of these are in use",
                        bytes, end_ - begin_, InUse()));
  }
  used_[at] = at + size;
  return at;
}

void MemoryPool::Free(uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  used_.erase(address);
}

uint64_t MemoryPool::bytes_in_use() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return InUse();
}

uint64_t MemoryPool::InUse() const {
  uint64_t bytes = 0;
  for (const auto& [address, end] : used_) bytes += end - address;
  return bytes;
}

void CoreWork::Add(const CoreWork& other) {
  programs += other.programs;
  stats.Add(other.stats);
  exchanges += other.exchanges;
  exchange_cycles += other.exchange_cycles;
  exchanges_beside += other.exchanges_beside;
  upload_bytes += other.upload_bytes;
}

absl::StatusOr<systole::Device*> Core::Open() {
  if (device_ != nullptr) return device_;
  if (board_ != nullptr) {
    absl::StatusOr<systole::Device*> device = board_->Open(number_);
    if (!device.ok()) return device.status();
    device_ = *device;
  } else {
    DeviceOptions options = options_.device;
    options.preset = options_.preset;
    options.check_races = options_.check_races;
    absl::StatusOr<std::unique_ptr<systole::Device>> device =
        systole::Device::Open(options_.backend, options);
    if (!device.ok()) return device.status();
    own_ = *std::move(device);
    device_ = own_.get();
  }
  return device_;
}

const std::shared_ptr<MemoryPool>& Core::pool() {
  if (pool_ == nullptr) {
    const auto align = static_cast<uint64_t>(lanes::ValueAlignment(preset()));
    pool_ = std::make_shared<MemoryPool>(product_bytes(),
                                         preset().memory_bytes(), align);
  }
  return pool_;
}

absl::Status Core::Run(const Program& program, bool exchanges) {
  if (has_listener()) {
    options_.listener->Starts(program);
    if (board_ != nullptr)
      options_.listener->Round(board_->rounds(), exchanges);
  }
  const absl::StatusOr<RunStats> stats = Guarded([&] {
    return board_ != nullptr ? board_->Run(number_, program)
                             : RunLoaded(*device_, program);
  });
  if (!stats.ok()) {
    absl::Status status = stats.status();
    if (has_listener())
      status = options_.listener->Failed(*device_, std::move(status));
    device_->Reset().IgnoreError();
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
