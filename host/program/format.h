// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Constants of the program file: docs/program_file.md.
#ifndef SYSTOLE_HOST_PROGRAM_FORMAT_H_
#define SYSTOLE_HOST_PROGRAM_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace systole::program_file {

inline constexpr std::string_view kMagic = "SYSTOLE\x1A";  // 8 bytes
inline constexpr uint32_t kFormatVersion = 4;
inline constexpr size_t kHeaderBytes =
    24;  // magic, format version, ISA version, file size
inline constexpr size_t kTrailerBytes = 4;  // CRC-32 of everything before it
inline constexpr size_t kMaxName = 4096;    // bytes of a string

// CRC-32 (IEEE 802.3) of parts that follow each other, as zlib computes it.
uint32_t Crc32(absl::Span<const std::string_view> parts);

}  // namespace systole::program_file

#endif  // SYSTOLE_HOST_PROGRAM_FORMAT_H_
