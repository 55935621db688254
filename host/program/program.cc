// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "systole/program.h"

#include <zlib.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "host/files/file_kind.h"
#include "host/files/read_file.h"
#include "host/program/format.h"

namespace systole {

uint32_t program_file::Crc32(absl::Span<const std::string_view> parts) {
  uLong crc = crc32_z(0, nullptr, 0);
  for (const std::string_view part : parts) {
    // zlib starts anew where there is no address.
    if (!part.empty())
      crc = crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()),
                    part.size());
  }
  return static_cast<uint32_t>(crc);
}

std::string_view ElementTypeName(ElementType type) {
  constexpr std::string_view kNames[kNumElementTypes] = {"int8", "int32",
                                                         "bf16", "float32"};
  return kNames[static_cast<int>(type)];
}

int64_t ElementBytes(ElementType type) {
  constexpr int64_t kBytes[kNumElementTypes] = {1, 4, 2, 4};
  return kBytes[static_cast<int>(type)];
}

const TensorInfo* Program::FindTensor(const std::string& name) const {
  const auto it =
      std::find_if(tensors.begin(), tensors.end(),
                   [&](const TensorInfo& t) { return t.name == name; });
  return it == tensors.end() ? nullptr : &*it;
}

const Section* Program::FindSection(const std::string& name) const {
  const auto it =
      std::find_if(sections.begin(), sections.end(),
                   [&](const Section& s) { return s.name == name; });
  return it == sections.end() ? nullptr : &*it;
}

absl::StatusOr<Program> ReadProgram(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  const FileKind kind = KindOfBytes(*bytes, path);
  if (kind != FileKind::kProgram && !absl::EndsWith(path, ".tpu"))
    return WrongKind(path, kind, "a program (.tpu)");
  return ParseProgram({bytes->begin(), bytes->end()}, path);
}

}  // namespace systole
