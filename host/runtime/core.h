// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The core of a client's device, opened when it is first needed, and its HBM:
// the lower half holds the programs of products, the upper half holds values.
#ifndef SYSTOLE_HOST_RUNTIME_CORE_H_
#define SYSTOLE_HOST_RUNTIME_CORE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "host/runtime/board.h"
#include "host/runtime/device_memory.h"
#include "systole/device.h"

namespace systole::runtime {

// Work done by a core's programs.
struct CoreWork {
  int64_t programs = 0;  // programs run
  RunStats stats;        // sums over them
  // Those that only exchange values with other cores, of the above.
  int64_t exchanges = 0;
  uint64_t exchange_cycles = 0;
  int64_t exchanges_beside = 0;  // in programs of kernels
  int64_t upload_bytes = 0;      // values, from the host
  int64_t program_bytes = 0;     // programs and their code, likewise
  int64_t download_bytes = 0;    // values, to the host
  void Add(const CoreWork& other);
};

// Is notified of all programs of a core.
class CoreListener {
 public:
  virtual ~CoreListener() = default;
  // The program as it is in memory. Its layers are its kernels: the node whose
  // result is written last, the operations, the shape of that result,
  // multiply-adds. Descriptors have their kernel's number as tag.
  virtual void Starts(const Program& program) = 0;
  // After Starts, of a board's core: the number of the set of programs that
  // start together, of which it is one. exchanges: values, with other cores.
  virtual void Round(int64_t /*round*/, bool /*exchanges*/) {}
  // Not called for a program that failed.
  virtual void Ended(const RunStats& stats) = 0;
  // Called for a program that failed, before the device is reset; returns the
  // status to report.
  virtual absl::Status Failed(const systole::Device&, absl::Status status) {
    return status;
  }
};

struct CoreOptions {
  std::string backend = "iss";  // as for Device::Open of systole/device.h
  std::string preset = "v2";    // a preset with the bf16 cell
  DeviceOptions device;         // except backend and preset
  CoreListener* listener = nullptr;
};

class Core {
 public:
  // `number`: that of a board's core. Without a board the core is a device of
  // its own.
  explicit Core(CoreOptions options, Board* board = nullptr, int number = 0);

  // Opens the core at the first call. Only the functions below reach the device
  // in the right order (Board::Access); any thread may call the first three.
  // Errors: those of Device::Open, and of what the device does.
  absl::Status Use(const std::function<absl::Status(systole::Device&)>& use);
  absl::Status Read(uint64_t address, absl::Span<uint8_t> bytes);
  absl::Status Write(uint64_t address, absl::Span<const uint8_t> bytes);
  systole::Device* device() const { return device_; }  // null before
  const Preset& preset() const { return *FindPreset(options_.preset); }
  Board* board() const { return board_; }
  int number() const { return number_; }
  // Memory for values and programs. ResourceExhausted: as of MemoryPool.
  absl::StatusOr<std::shared_ptr<DeviceMemory>> Allocate(int64_t bytes);
  // Memory that holds these bytes, of a program or of its code, and that nobody
  // changes. They stay there for the next time, as long as there is room.
  absl::StatusOr<std::shared_ptr<DeviceMemory>> Resident(
      std::vector<uint8_t> bytes);
  // The most memory at a time that was allocated.
  uint64_t peak_bytes() const { return pool_->peak_bytes(); }
  // End of the memory for products.
  uint64_t product_bytes() const { return preset().memory_bytes() / 2; }

  // Starts a program that is in memory and waits for it. On a fault, reports it
  // and resets the core. `exchanges`: values, with other cores.
  absl::Status Run(const Program& program, bool exchanges = false);
  void CountExchangesBeside(int64_t count) { work_.exchanges_beside += count; }
  void CountUpload(int64_t bytes) { work_.upload_bytes += bytes; }
  bool has_listener() const { return options_.listener != nullptr; }
  // Work since the last call.
  CoreWork TakeWork() {
    work_.download_bytes = downloads_.exchange(0);
    return std::exchange(work_, {});
  }

 private:
  const CoreOptions options_;
  Board* const board_;
  const int number_;
  absl::StatusOr<systole::Device*> Open();

  // Without a board: who uses the device.
  std::mutex mutex_;
  std::unique_ptr<systole::Device> own_;
  std::atomic<systole::Device*> device_{nullptr};
  std::shared_ptr<MemoryPool> pool_;
  ResidentBytes resident_;
  CoreWork work_;
  std::atomic<int64_t> downloads_{0};
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_CORE_H_
