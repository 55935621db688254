// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The hardware under the firmware's logic, on the host: registers, HBM, a core
// that runs as long as a test says. Time goes on with each access.

#ifndef SYSTOLE_TESTS_FIRMWARE_HARDWARE_MODEL_H_
#define SYSTOLE_TESTS_FIRMWARE_HARDWARE_MODEL_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

extern "C" {
#include "firmware/scalar/firmware.h"
#include "firmware/scalar/gen/regs.h"
#include "firmware/scalar/hardware.h"
}

namespace systole {

struct HardwareModel {
  using Descriptor = std::array<uint32_t, 16>;
  // What a program becomes.
  enum class End { kDone, kFault, kNever };

  std::map<uint32_t, uint32_t> regs;
  std::map<uint64_t, uint32_t> hbm;  // words
  uint64_t time = 0;
  uint32_t host_irqs = 0;
  int starts = 0, resets = 0;
  uint64_t cycles = 500;  // of a program
  End end = End::kDone;
  // All descriptors that the core got from the issue port. An item leaves that
  // after so many accesses, and is read then.
  std::vector<Descriptor> received;
  int port_delay = 1;
  // Called at each sleep: what the host does meanwhile.
  std::function<void()> on_sleep;
  std::function<void()> on_start;
  // Whether the flags are there.
  std::function<bool(uint32_t mask)> on_flag_wait;

  HardwareModel();
  ~HardwareModel();
  void Doorbell(uint32_t value);
  template <typename T>
  void Put(uint64_t addr, const T& value) {
    const auto* words = reinterpret_cast<const uint32_t*>(&value);
    for (size_t i = 0; i < sizeof value / 4; i++) hbm[addr + 4 * i] = words[i];
  }
  template <typename T>
  T Get(uint64_t addr) {
    T value;
    auto* words = reinterpret_cast<uint32_t*>(&value);
    for (size_t i = 0; i < sizeof value / 4; i++) words[i] = hbm[addr + 4 * i];
    return value;
  }

  uint32_t Read(uint32_t reg);
  void Write(uint32_t reg, uint32_t value);
  void Step();
  void Push(std::function<void()> read, uint32_t entries = 0);
  void Patch(uint32_t entry, uint32_t place, Descriptor* d);
  bool InWindow(uint64_t addr, uint64_t bytes);

  bool running = false;
  bool halted = false;  // the issue port's program has got its last descriptor
  uint64_t ends_at = 0;
  struct Item {
    std::function<void()> read;
    uint32_t first, end;  // entries of the table that it uses
  };
  std::deque<Item> port;
  struct Entry {
    uint32_t field;
    uint64_t value, step;
  };
  std::array<Entry, 256> table = {};
  int since_read = 0;
  uint64_t copy_from = 0;  // of the copy that is prepared
  void* copy_to = nullptr;
  bool copied = false;  // the last one went well
};

}  // namespace systole

#endif  // SYSTOLE_TESTS_FIRMWARE_HARDWARE_MODEL_H_
