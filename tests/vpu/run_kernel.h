// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// One kernel of the vector unit on a device.

#ifndef SYSTOLE_TESTS_VPU_RUN_KERNEL_H_
#define SYSTOLE_TESTS_VPU_RUN_KERNEL_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "systole/device.h"

namespace systole {

// A device with random stalls; at mini the model with every check.
absl::StatusOr<std::unique_ptr<Device>> OpenStalled(const std::string& backend,
                                                    const std::string& preset,
                                                    uint64_t seed);

// Whole HBM beats of any preset.
inline int64_t WholeBeats(int64_t bytes) { return (bytes + 511) / 512 * 512; }

// Runs the kernel at label `entry` with `input` at byte 0 of the unified
// buffer; returns as many bytes from behind it, which is where the kernel is to
// write (`args` say so). The size of `input` is a multiple of 512.
absl::StatusOr<std::vector<uint8_t>> RunKernel(
    Device* device, const std::string& entry,
    const std::vector<std::pair<std::string, int64_t>>& args,
    const std::vector<uint8_t>& input);

// Vectors of numbers as bytes and back.
template <typename T>
std::vector<uint8_t> BytesOf(const std::vector<T>& values) {
  const auto* first = reinterpret_cast<const uint8_t*>(values.data());
  return {first, first + values.size() * sizeof(T)};
}
template <typename T>
T ValueOf(const std::vector<uint8_t>& bytes, int64_t index) {
  T value;
  std::memcpy(&value, &bytes[index * sizeof(T)], sizeof(T));
  return value;
}

}  // namespace systole

#endif  // SYSTOLE_TESTS_VPU_RUN_KERNEL_H_
