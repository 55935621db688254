// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Gives the host's side of the scalar unit's rings access to a simulated core.

#ifndef SYSTOLE_SIM_RTL_SCALAR_PORT_H_
#define SYSTOLE_SIM_RTL_SCALAR_PORT_H_

#include <algorithm>
#include <functional>
#include <utility>

#include "host/scalar/command_queue.h"
#include "verif/tb/core_port.h"

namespace systole {

class ScalarPort : public scalar::Port {
 public:
  explicit ScalarPort(tb::CorePort core) : core_(std::move(core)) {}

  // `stop` is asked now and then during waits, and true ends them with
  // kCancelled. Null: not any more.
  void StopOn(std::function<bool()> stop) { stop_ = std::move(stop); }

  absl::StatusOr<uint32_t> ReadRegister(uint32_t offset) override {
    return core_.ReadRegister(offset);
  }
  absl::Status WriteRegister(uint32_t offset, uint32_t value) override {
    return core_.WriteRegister(offset, value);
  }
  absl::Status ReadMemory(uint64_t addr, absl::Span<uint8_t> bytes) override {
    return core_.ReadMemory(addr, bytes);
  }
  absl::Status WriteMemory(uint64_t addr,
                           absl::Span<const uint8_t> bytes) override {
    return core_.WriteMemory(addr, bytes);
  }
  absl::Status WaitInterrupt(uint64_t cycles) override {
    if (!stop_) return core_.WaitInterrupt(cycles);
    while (true) {
      const uint64_t part = std::min(cycles, kStopCycles);
      absl::Status status = core_.WaitInterrupt(part);
      cycles -= part;
      if (cycles == 0 || !absl::IsDeadlineExceeded(status)) return status;
      if (stop_())
        return absl::CancelledError("the firmware was stopped as it booted");
    }
  }
  uint64_t memory_bytes() const override {
    return core_.preset().memory_bytes();
  }
  uint64_t beat_bytes() const override {
    return static_cast<uint64_t>(core_.preset().beat_bytes());
  }

 private:
  static constexpr uint64_t kStopCycles = 4096;

  tb::CorePort core_;
  std::function<bool()> stop_;
};

}  // namespace systole

#endif  // SYSTOLE_SIM_RTL_SCALAR_PORT_H_
