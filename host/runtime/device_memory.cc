// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/device_memory.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_format.h"

namespace systole::runtime {
namespace {

size_t HashOf(const std::vector<uint8_t>& bytes) {
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

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
                        bytes, end_ - begin_, now_));
  }
  used_[at] = at + size;
  now_ += size;
  most_ = std::max(most_, now_);
  return at;
}

void MemoryPool::Free(uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto piece = used_.find(address);
  if (piece == used_.end()) return;
  now_ -= piece->second - address;
  used_.erase(piece);
}

uint64_t MemoryPool::bytes_in_use() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return now_;
}

uint64_t MemoryPool::peak_bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return most_;
}

std::shared_ptr<DeviceMemory> ResidentBytes::Find(
    const std::vector<uint8_t>& bytes) {
  const size_t hash = HashOf(bytes);
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    if (it->hash != hash || it->bytes != bytes) continue;
    entries_.splice(entries_.begin(), entries_, it);
    return it->memory;
  }
  return nullptr;
}

void ResidentBytes::Add(std::vector<uint8_t> bytes,
                        std::shared_ptr<DeviceMemory> memory) {
  all_ += static_cast<int64_t>(bytes.size());
  const size_t hash = HashOf(bytes);
  entries_.push_front({hash, std::move(bytes), std::move(memory)});
  while (all_ > most_) {
    all_ -= static_cast<int64_t>(entries_.back().bytes.size());
    entries_.pop_back();
  }
}

bool ResidentBytes::Clear() {
  const bool any = !entries_.empty();
  entries_.clear();
  all_ = 0;
  return any;
}

}  // namespace systole::runtime
