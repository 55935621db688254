// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Gives the host's side of the scalar unit's rings access to a simulated core.

#ifndef SYSTOLE_SIM_RTL_SCALAR_PORT_H_
#define SYSTOLE_SIM_RTL_SCALAR_PORT_H_

#include <utility>

#include "host/scalar/command_queue.h"
#include "verif/tb/core_port.h"

namespace systole {

class ScalarPort : public scalar::Port {
 public:
  explicit ScalarPort(tb::CorePort core) : core_(std::move(core)) {}

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
    return core_.WaitInterrupt(cycles);
  }
  uint64_t memory_bytes() const override {
    return core_.preset().memory_bytes();
  }
  uint64_t beat_bytes() const override {
    return static_cast<uint64_t>(core_.preset().beat_bytes());
  }

 private:
  tb::CorePort core_;
};

}  // namespace systole

#endif  // SYSTOLE_SIM_RTL_SCALAR_PORT_H_
