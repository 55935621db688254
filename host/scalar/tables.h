// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The tables of a launch as the firmware reads them.

#ifndef SYSTOLE_HOST_SCALAR_TABLES_H_
#define SYSTOLE_HOST_SCALAR_TABLES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "host/scalar/command_queue.h"

namespace systole::scalar {

// Those of one chapter at most.
inline constexpr uint64_t kTableBytes =
    uint64_t{MAX_PATCHES + MAX_LOOPS} * TABLE_ENTRY_BYTES;
static_assert(MAX_PATCHES * TABLE_ENTRY_BYTES % TABLE_ALIGN == 0);
static_assert(kTableBytes % TABLE_ALIGN == 0);
static_assert(MAX_PATCHES == kMaxSteps && MAX_LOOPS == kMaxLoops);

struct Tables {
  uint32_t counts = 0;  // as a command has them
  std::vector<uint8_t> bytes;
};

// kInvalidArgument: more than the firmware holds, or chapters that are not one
// behind the other up to the program's end.
absl::StatusOr<Tables> PackTables(const Launch& launch);

}  // namespace systole::scalar

#endif  // SYSTOLE_HOST_SCALAR_TABLES_H_
