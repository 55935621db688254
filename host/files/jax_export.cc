// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/files/jax_export.h"

#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"

namespace systole {
namespace {

// Fields of the table Exported in JAX's serialization.fbs.
constexpr size_t kVersion = 0, kFunctionName = 1, kInTree = 2, kInAvals = 3,
                 kOutTree = 4, kOutAvals = 5, kPlatforms = 9, kModule = 13,
                 kCallingConvention = 14;
// Of the field kVersion: those that exports of JAX 0.4.20 and later have.
constexpr uint64_t kOldest = 2, kNewest = 11;

// Little endian; nothing beyond the end.
std::optional<uint64_t> Number(std::string_view bytes, size_t at, size_t size) {
  if (at > bytes.size() || size > bytes.size() - at) return std::nullopt;
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i)
    value |= uint64_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  return value;
}

// Places of the root table's fields.
class Table {
 public:
  static std::optional<Table> Root(std::string_view bytes) {
    const auto root = Number(bytes, 0, 4);
    const auto back = root ? Number(bytes, *root, 4) : std::nullopt;
    if (!back || *root % 4 != 0) return std::nullopt;
    // Where the table of places lies, before or behind this one.
    const uint64_t fields =
        *root - static_cast<int64_t>(static_cast<int32_t>(*back));
    const auto size = Number(bytes, fields, 2);
    const auto extent = Number(bytes, fields + 2, 2);
    if (fields < 4 || !size || !extent || *size % 2 != 0 ||
        *size > bytes.size() - fields)
      return std::nullopt;
    return Table{bytes, *root, fields, *size, *extent};
  }
  // Nothing: the table lacks the field.
  std::optional<uint64_t> Place(size_t field) const {
    const size_t at = 4 + 2 * field;
    if (at + 2 > size_) return std::nullopt;
    const uint64_t place = *Number(bytes_, fields_ + at, 2);
    if (place < 4 || place >= extent_) return std::nullopt;
    return root_ + place;
  }
  std::optional<uint64_t> Value(size_t field, size_t size) const {
    const auto place = Place(field);
    return place ? Number(bytes_, *place, size) : std::nullopt;
  }

 private:
  Table(std::string_view bytes, uint64_t root, uint64_t fields, uint64_t size,
        uint64_t extent)
      : bytes_(bytes),
        root_(root),
        fields_(fields),
        size_(size),
        extent_(extent) {}
  std::string_view bytes_;
  uint64_t root_, fields_, size_, extent_;
};

}  // namespace

bool IsJaxExport(std::string_view bytes) {
  constexpr uint64_t kMost = 255;  // of any version
  const auto table = Table::Root(bytes);
  if (!table) return false;
  for (const size_t field : {kFunctionName, kInTree, kInAvals, kOutTree,
                             kOutAvals, kPlatforms, kModule}) {
    if (!table->Place(field)) return false;
  }
  for (const size_t field : {kVersion, kCallingConvention}) {
    const auto version = table->Value(field, 2);
    if (!version || *version < 1 || *version > kMost) return false;
  }
  return true;
}

absl::StatusOr<std::string_view> ModuleOfJaxExport(std::string_view bytes) {
  const auto table = Table::Root(bytes);
  const auto version = table ? table->Value(kVersion, 2) : std::nullopt;
  if (version && (*version < kOldest || *version > kNewest)) {
    return absl::UnimplementedError(absl::StrCat(
        "a JAX export of serialization version ", *version, "; ", kOldest,
        " to ", kNewest,
        " are supported: write the export's mlir_module_serialized instead"));
  }
  const auto place = table ? table->Place(kModule) : std::nullopt;
  const auto offset = place ? Number(bytes, *place, 4) : std::nullopt;
  const auto size = offset ? Number(bytes, *place + *offset, 4) : std::nullopt;
  if (!size || *size > bytes.size() - (*place + *offset + 4)) {
    return absl::DataLossError(absl::StrCat(
        "truncated: a JAX export of more than ", bytes.size(), " bytes"));
  }
  return bytes.substr(*place + *offset + 4, *size);
}

}  // namespace systole
