// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The safetensors container: named arrays and a map of strings in one file.
// Layout: u64 header length (little-endian), JSON header, data section.
#ifndef SYSTOLE_HOST_MODEL_SAFETENSORS_H_
#define SYSTOLE_HOST_MODEL_SAFETENSORS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace systole::model {

// An array as it is stored: dtype "BOOL", "I8" to "I64", "U8" to "U64", "F16",
// "BF16" or "F32", row-major, little-endian.
struct StoredTensor {
  std::string dtype;
  std::vector<int64_t> shape;
  std::string_view data;
};

// A view of a file's bytes, which must outlive it.
struct Container {
  std::map<std::string, std::string> metadata;
  std::map<std::string, StoredTensor> tensors;
  std::string_view data;  // the whole data section
};

// Checks that the arrays have sizes that match dtype and shape, and cover the
// data section without gaps or overlaps. Messages name the tensor, not the
// file.
absl::StatusOr<Container> ParseContainer(std::string_view bytes);

// The data section that SerializeContainer will write for these tensors.
std::string DataSection(const std::map<std::string, StoredTensor>& tensors);

// The CRC-32 of a text of the metadata and the data section, 8 hex digits, and
// its key in the metadata.
inline constexpr char kChecksumKey[] = "systole.crc32";
std::string Checksum(std::string_view text, std::string_view data);

// The inverse of ParseContainer; `container.data` is ignored.
std::string SerializeContainer(const Container& container);

}  // namespace systole::model

#endif  // SYSTOLE_HOST_MODEL_SAFETENSORS_H_
