// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The core of a device of the client, opened when it is first needed, and its
// HBM: the lower half has the programs of products, the upper half values.
#ifndef SYSTOLE_HOST_RUNTIME_CORE_H_
#define SYSTOLE_HOST_RUNTIME_CORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "systole/device.h"

namespace systole::runtime {

// Places in a range of memory, the lowest that fits. For several threads.
class MemoryPool {
 public:
  // Places are multiples of `align`.
  MemoryPool(uint64_t begin, uint64_t end, uint64_t align);

  // ResourceExhausted.
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes);
  void Free(uint64_t address);
  uint64_t bytes_in_use() const;

 private:
  const uint64_t begin_, end_, align_;
  mutable std::mutex mutex_;
  std::map<uint64_t, uint64_t> used_;  // address and end
};

// What a core's programs did.
struct CoreWork {
  int64_t programs = 0;  // run
  RunStats stats;        // their sums
};

class Core {
 public:
  // `check_races`: as in DeviceOptions.
  Core(std::string backend, std::string preset, bool check_races = false)
      : backend_(std::move(backend)),
        preset_(std::move(preset)),
        check_races_(check_races) {}

  // Errors: those of Device::Open.
  absl::StatusOr<systole::Device*> Open();
  const Preset& preset() const { return *FindPreset(preset_); }
  // Of values, and of a program while it runs.
  const std::shared_ptr<MemoryPool>& pool();
  // Products end at or below.
  uint64_t product_bytes() const { return preset().memory_bytes() / 2; }

  // Start and Wait of a program that is in memory; a fault is told and the core
  // reset.
  absl::Status Run(const Program& program);
  // Since the last call.
  CoreWork TakeWork() { return std::exchange(work_, {}); }

 private:
  const std::string backend_, preset_;
  const bool check_races_;
  std::unique_ptr<systole::Device> device_;
  std::shared_ptr<MemoryPool> pool_;
  CoreWork work_;
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_CORE_H_
