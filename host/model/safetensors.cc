// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/model/safetensors.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace systole::model {
namespace {

using Json = nlohmann::json;

constexpr size_t kLengthBytes = 8;
constexpr size_t kHeaderAlignment = 8;
constexpr char kMetadata[] = "__metadata__";

// Bytes of an element, 0 for a dtype that the project does not use.
int64_t ElementSize(std::string_view dtype) {
  if (dtype == "BOOL" || dtype == "I8" || dtype == "U8") return 1;
  if (dtype == "I16" || dtype == "U16" || dtype == "F16" || dtype == "BF16")
    return 2;
  if (dtype == "I32" || dtype == "U32" || dtype == "F32") return 4;
  if (dtype == "I64" || dtype == "U64") return 8;
  return 0;
}

// The array behind `field`; false if it is not one of numbers that are 0 or
// more.
bool ReadNumbers(const Json& entry, const char* field,
                 std::vector<int64_t>& values) {
  const auto it = entry.find(field);
  if (it == entry.end() || !it->is_array()) return false;
  for (const Json& value : *it) {
    if (!value.is_number_unsigned() ||
        value.get<uint64_t>() > uint64_t{INT64_MAX}) {
      return false;
    }
    values.push_back(value.get<int64_t>());
  }
  return true;
}

struct Extent {
  int64_t begin;
  int64_t end;
  std::string name;
};

absl::StatusOr<StoredTensor> ParseTensor(const std::string& name,
                                         const Json& entry,
                                         std::string_view data,
                                         Extent& extent) {
  const std::string what = absl::StrCat("tensor '", name, "': ");
  StoredTensor tensor;
  std::vector<int64_t> offsets;
  if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") ||
      !entry["dtype"].is_string() ||
      !ReadNumbers(entry, "shape", tensor.shape) ||
      !ReadNumbers(entry, "data_offsets", offsets) || offsets.size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, "its header entry is malformed"));
  }
  tensor.dtype = entry["dtype"].get<std::string>();
  int64_t bytes = ElementSize(tensor.dtype);
  if (bytes == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        what, "dtype '", tensor.dtype,
        "' is none of BOOL, I8 to I64, U8 to U64, F16, BF16 and F32"));
  }
  const int64_t begin = offsets[0], end = offsets[1];
  if (begin > end || end > static_cast<int64_t>(data.size())) {
    return absl::DataLossError(absl::StrCat(
        what, "bytes ", begin, "..", end, " are outside the data section of ",
        data.size(), " bytes; the file is truncated or corrupt"));
  }
  for (int64_t dimension : tensor.shape) {
    if (dimension != 0 && bytes > INT64_MAX / dimension) {
      return absl::InvalidArgumentError(absl::StrCat(what, "too large"));
    }
    bytes *= dimension;
  }
  if (bytes != end - begin) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, "its shape needs ", bytes, " bytes, its offsets ",
                     "give ", end - begin));
  }
  tensor.data = data.substr(begin, end - begin);
  extent = {begin, end, name};
  return tensor;
}

absl::Status CheckExtents(std::vector<Extent> extents, size_t size) {
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
  int64_t next = 0;
  for (const Extent& extent : extents) {
    if (extent.begin != next) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tensor '", extent.name, "': starts at byte ", extent.begin,
          extent.begin < next ? " inside another tensor, which ends at "
                              : " behind a gap that starts at ",
          next));
    }
    next = extent.end;
  }
  if (next != static_cast<int64_t>(size)) {
    return absl::DataLossError(absl::StrCat("the tensors end at byte ", next,
                                            " of a data section of ", size));
  }
  return absl::OkStatus();
}

// Wide elements first, so that they are aligned; then by name.
std::vector<std::pair<std::string, StoredTensor>> FileOrder(
    const std::map<std::string, StoredTensor>& tensors) {
  std::vector<std::pair<std::string, StoredTensor>> order(tensors.begin(),
                                                          tensors.end());
  std::stable_sort(
      order.begin(), order.end(), [](const auto& a, const auto& b) {
        return ElementSize(a.second.dtype) > ElementSize(b.second.dtype);
      });
  return order;
}

}  // namespace

absl::StatusOr<Container> ParseContainer(std::string_view bytes) {
  if (bytes.size() < kLengthBytes) {
    return absl::DataLossError(
        absl::StrCat("truncated: ", bytes.size(), " bytes"));
  }
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    length |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  }
  bytes.remove_prefix(kLengthBytes);
  if (length > bytes.size()) {
    return absl::DataLossError(
        absl::StrCat("truncated or not a safetensors file: the header should "
                     "have ",
                     length, " bytes, ", bytes.size(), " are there"));
  }
  const std::string_view text = bytes.substr(0, length);
  const Json header = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) {
    return absl::InvalidArgumentError("the header is not a JSON object");
  }
  Container container;
  container.data = bytes.substr(length);
  std::vector<Extent> extents;
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadata) {
      if (!entry.is_object()) {
        return absl::InvalidArgumentError("__metadata__ is not a JSON object");
      }
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) {
          return absl::InvalidArgumentError(
              absl::StrCat("metadata '", key, "' is not a string"));
        }
        container.metadata[key] = value.get<std::string>();
      }
      continue;
    }
    Extent extent;
    absl::StatusOr<StoredTensor> tensor =
        ParseTensor(name, entry, container.data, extent);
    if (!tensor.ok()) return tensor.status();
    container.tensors[name] = *std::move(tensor);
    extents.push_back(std::move(extent));
  }
  absl::Status status = CheckExtents(std::move(extents), container.data.size());
  if (!status.ok()) return status;
  return container;
}

std::string DataSection(const std::map<std::string, StoredTensor>& tensors) {
  std::string data;
  for (const auto& [name, tensor] : FileOrder(tensors)) data += tensor.data;
  return data;
}

std::string Checksum(std::string_view text, std::string_view data) {
  uLong crc = crc32_z(0, nullptr, 0);
  for (std::string_view part : {text, data}) {
    crc =
        crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
  }
  return absl::StrFormat("%08x", crc);
}

std::string SerializeContainer(const Container& container) {
  Json header = {{kMetadata, container.metadata}};
  size_t offset = 0;
  for (const auto& [name, tensor] : FileOrder(container.tensors)) {
    header[name] = {{"dtype", tensor.dtype},
                    {"shape", tensor.shape},
                    {"data_offsets", {offset, offset + tensor.data.size()}}};
    offset += tensor.data.size();
  }
  std::string text = header.dump();
  text.append(
      (kHeaderAlignment - text.size() % kHeaderAlignment) % kHeaderAlignment,
      ' ');
  std::string bytes;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    bytes.push_back(static_cast<char>(uint64_t{text.size()} >> (8 * i)));
  }
  return bytes + text + DataSection(container.tensors);
}

}  // namespace systole::model
