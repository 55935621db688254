// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Where a value of a run lies: on the host, on the device, or on both.
#ifndef SYSTOLE_HOST_RUNTIME_PLACE_H_
#define SYSTOLE_HOST_RUNTIME_PLACE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "host/ir/literal.h"
#include "host/runtime/core.h"

namespace systole::runtime {

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

// A value on the host, on the device, or on both. Users share it. A copy is
// never removed, but the other one may be added.
struct Place {
  int64_t bytes = 0;
  std::optional<ir::Literal> host;
  std::shared_ptr<DeviceMemory> device;
  // Of a value on the host, what the device has of it.
  struct Part {
    std::shared_ptr<DeviceMemory> device;
    int64_t begin = 0, bytes = 0;
  } part;
};
using PlacedValue = std::shared_ptr<Place>;
using PlacedValues = std::vector<PlacedValue>;

PlacedValue OnHost(ir::Literal literal);
// A part of a piece of device memory, which it keeps.
inline PlacedValue OnDevice(const std::shared_ptr<DeviceMemory>& whole,
                            uint64_t offset, int64_t bytes) {
  auto value = std::make_shared<Place>();
  value->bytes = bytes;
  value->device = std::make_shared<DeviceMemory>(whole, offset);
  return value;
}

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_PLACE_H_
