// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Who has which part of a core's HBM.
#ifndef SYSTOLE_HOST_RUNTIME_DEVICE_MEMORY_H_
#define SYSTOLE_HOST_RUNTIME_DEVICE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace systole::runtime {

// First-fit allocator for a range of memory, lowest address first. Thread-safe.
class MemoryPool {
 public:
  // Addresses are multiples of `align`.
  MemoryPool(uint64_t begin, uint64_t end, uint64_t align);

  // ResourceExhausted: no space.
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes);
  void Free(uint64_t address);
  uint64_t bytes_in_use() const;
  // The most at a time.
  uint64_t peak_bytes() const;

 private:
  const uint64_t begin_, end_, align_;
  mutable std::mutex mutex_;
  std::map<uint64_t, uint64_t> used_;  // address to end
  uint64_t now_ = 0, most_ = 0;        // bytes of `used_`
};

// Device memory that is freed when nobody needs it.
class DeviceMemory {
 public:
  DeviceMemory(std::shared_ptr<MemoryPool> pool, uint64_t address)
      : pool_(std::move(pool)), address_(address) {}
  // What begins at an offset in another one, which it keeps.
  DeviceMemory(std::shared_ptr<DeviceMemory> whole, uint64_t offset)
      : whole_(std::move(whole)), address_(whole_->address() + offset) {}
  ~DeviceMemory() {
    if (pool_ != nullptr) pool_->Free(address_);
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  uint64_t address() const { return address_; }
  // Whether it is not a part of other memory.
  bool whole() const { return whole_ == nullptr; }

 private:
  std::shared_ptr<MemoryPool> pool_;
  std::shared_ptr<DeviceMemory> whole_;
  const uint64_t address_;
};

// What of programs has stayed in a core's memory: the bytes, and where they
// are.
class ResidentBytes {
 public:
  explicit ResidentBytes(int64_t most) : most_(most) {}

  // Null if the bytes are not there.
  std::shared_ptr<DeviceMemory> Find(const std::vector<uint8_t>& bytes);
  // The least recently used ones go as soon as there are more than `most`
  // bytes.
  void Add(std::vector<uint8_t> bytes, std::shared_ptr<DeviceMemory> memory);
  // Whether there were any.
  bool Clear();

 private:
  struct Entry {
    size_t hash;
    std::vector<uint8_t> bytes;
    std::shared_ptr<DeviceMemory> memory;
  };
  const int64_t most_;
  int64_t all_ = 0;
  std::list<Entry> entries_;  // the last used one first
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_DEVICE_MEMORY_H_
