// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A user's firmware, from the ELF file that a RISC-V linker writes.

#ifndef SYSTOLE_HOST_SCALAR_ELF_H_
#define SYSTOLE_HOST_SCALAR_ELF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace systole::scalar {

// The image's words for MakeImage: the loadable segments from address 0 of SMEM
// on, with the file's entry point in the header. kInvalidArgument: not a linked
// 32-bit RISC-V program, or one that does not fit the `smem_bytes` of SMEM or
// has no header or entry point as the boot ROM needs them; other codes: as of
// ReadFile. Each message begins with the path.
absl::StatusOr<std::vector<uint32_t>> ReadFirmware(const std::string& path,
                                                   uint64_t smem_bytes);

}  // namespace systole::scalar

#endif  // SYSTOLE_HOST_SCALAR_ELF_H_
