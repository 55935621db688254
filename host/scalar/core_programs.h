// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The driver's own programs for a core with a scalar unit: a product whose
// result is known, for the self-test, and one that clears what a program may
// leave in a core for the next one.

#ifndef SYSTOLE_HOST_SCALAR_CORE_PROGRAMS_H_
#define SYSTOLE_HOST_SCALAR_CORE_PROGRAMS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "host/scalar/image.h"
#include "systole/gen/presets.h"

namespace systole::scalar {

struct CorePrograms {
  // What is written before the boot: HBM addresses, bytes.
  std::vector<std::pair<uint64_t, std::vector<uint8_t>>> data;
  ImageOptions options;  // its test_ and scrub_ fields
};

// At `at` and behind, a multiple of 4096; all in `bytes`. kUnimplemented: cores
// of that cell have none; kResourceExhausted.
absl::StatusOr<CorePrograms> MakeCorePrograms(const Preset& preset, uint64_t at,
                                              uint64_t bytes);

}  // namespace systole::scalar

#endif  // SYSTOLE_HOST_SCALAR_CORE_PROGRAMS_H_
