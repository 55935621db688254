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

// A program that is about to start.
struct ProgramStart {
  const Program& program;  // as it lies in memory
  std::string name;        // of the node whose result it writes last
  std::string unit;        // "array", or the operations of a kernel
  std::string shape;       // of that result: "17x32"
  int64_t macs = 0;        // of a product
};

// Hears of all programs of a core.
class CoreListener {
 public:
  virtual ~CoreListener() = default;
  virtual void Starts(const ProgramStart& start) = 0;
  virtual void Ended(const RunStats& stats) = 0;  // not of one that failed
  // What is said of one that failed, before the device is reset.
  virtual absl::Status Failed(const systole::Device&, absl::Status status) {
    return status;
  }
};

struct CoreOptions {
  std::string backend = "iss";  // as Device::Open of systole/device.h
  std::string preset = "v2";    // one with the bf16 cell
  bool check_races = false;     // prove the programs' synchronisation (iss)
  DeviceOptions device;         // but for the two above
  CoreListener* listener = nullptr;
};

class Core {
 public:
  explicit Core(CoreOptions options) : options_(std::move(options)) {}

  // Errors: those of Device::Open.
  absl::StatusOr<systole::Device*> Open();
  const Preset& preset() const { return *FindPreset(options_.preset); }
  // Of values, and of a program while it runs.
  const std::shared_ptr<MemoryPool>& pool();
  // Products end at or below.
  uint64_t product_bytes() const { return preset().memory_bytes() / 2; }

  // Start and Wait of a program that is in memory; a fault is told and the core
  // reset.
  absl::Status Run(const ProgramStart& start);
  bool has_listener() const { return options_.listener != nullptr; }
  // Since the last call.
  CoreWork TakeWork() { return std::exchange(work_, {}); }

 private:
  const CoreOptions options_;
  std::unique_ptr<systole::Device> device_;
  std::shared_ptr<MemoryPool> pool_;
  CoreWork work_;
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_CORE_H_
