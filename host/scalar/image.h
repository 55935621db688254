// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The firmware's image as the boot ROM reads it from HBM.

#ifndef SYSTOLE_HOST_SCALAR_IMAGE_H_
#define SYSTOLE_HOST_SCALAR_IMAGE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace systole::scalar {

// The firmware as it was compiled; empty in a build without its compiler.
const std::vector<uint32_t>& FirmwareWords();

// What the host fills in: HBM addresses, and sizes as in protocol.h.
struct ImageOptions {
  uint64_t commands = 0, completions = 0, log = 0;
  uint32_t entries = 0, stride = 0, log_entries = 0;
  // Known answer of the core: none if test_bytes is 0.
  uint64_t test_program = 0, test_result = 0;
  uint32_t test_length = 0, test_bytes = 0, test_sum = 0;
  // What runs between programs of different contexts; none if its length is 0.
  uint64_t scrub_program = 0;
  uint32_t scrub_length = 0;
};

// `words` begins with the header. kUnimplemented: there are none, as in a build
// without firmware.
absl::StatusOr<std::vector<uint32_t>> MakeImage(
    const std::vector<uint32_t>& words, const ImageOptions& options);

}  // namespace systole::scalar

#endif  // SYSTOLE_HOST_SCALAR_IMAGE_H_
