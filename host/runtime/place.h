// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Where a value of a run lies: on the host, on the device, or on both. Results
// stay on the device until someone asks for them.
#ifndef SYSTOLE_HOST_RUNTIME_PLACE_H_
#define SYSTOLE_HOST_RUNTIME_PLACE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/literal.h"
#include "host/ir/type.h"
#include "host/runtime/core.h"
#include "host/runtime/device_memory.h"

namespace systole::runtime {

// A value on the host, on the device, on both, or in parts on several devices.
// Users share it. A copy is never removed but by who takes the device's memory;
// the other one may be added: on the host by any thread, on the device by the
// device's.
struct Place {
  // A piece of the value in a device's memory.
  struct Piece {
    Core* core;
    std::shared_ptr<DeviceMemory> memory;
  };
  // Of a value of which the device has a part, that part.
  struct Part {
    std::shared_ptr<DeviceMemory> device;
    int64_t begin = 0, bytes = 0;
  };

  int64_t bytes = 0;
  std::shared_ptr<DeviceMemory> device;
  Part part;
  // All parts, of equal size, in their order, if there is no other copy.
  std::vector<Piece> pieces;

  bool on_host() const;
  bool HasPart(int64_t begin, int64_t size) const {
    return part.device != nullptr && part.begin == begin && part.bytes == size;
  }
  // The copy on the host, with this type; `core`: the value's device, from
  // which it comes if there is none yet. FailedPrecondition: the value's memory
  // was taken; else errors of the device.
  absl::StatusOr<ir::Literal> Host(const ir::Type& type, Core& core);
  // The same, with elements of any type; `preferred` if it comes from a device.
  absl::StatusOr<ir::Literal> Fetch(ir::ElementType preferred, Core& core);
  void SetHost(ir::Literal literal);
  // What remains when a program takes the memory: the copy on the host, if
  // there is one. The memory goes to the place that is returned.
  std::shared_ptr<Place> Taken();

 private:
  mutable std::mutex mutex_;
  std::optional<ir::Literal> host_;
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
