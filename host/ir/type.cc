// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/type.h"

#include <charconv>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace systole::ir {
namespace {

struct ElementInfo {
  ElementType type;
  const char* name;
  int bytes;
};
// In the order of the enumeration.
constexpr ElementInfo kElements[] = {
    {ElementType::kBool, "i1", 1},     {ElementType::kInt8, "i8", 1},
    {ElementType::kInt16, "i16", 2},   {ElementType::kInt32, "i32", 4},
    {ElementType::kInt64, "i64", 8},   {ElementType::kUint8, "u8", 1},
    {ElementType::kUint16, "u16", 2},  {ElementType::kUint32, "u32", 4},
    {ElementType::kUint64, "u64", 8},  {ElementType::kBfloat16, "bf16", 2},
    {ElementType::kFloat16, "f16", 2}, {ElementType::kFloat32, "f32", 4}};

}  // namespace

const char* ElementTypeName(ElementType type) {
  return kElements[static_cast<int>(type)].name;
}

int ElementBytes(ElementType type) {
  return kElements[static_cast<int>(type)].bytes;
}

bool IsSigned(ElementType type) {
  return ElementType::kInt8 <= type && type <= ElementType::kInt64;
}

bool IsUnsigned(ElementType type) {
  return ElementType::kUint8 <= type && type <= ElementType::kUint64;
}

bool IsInteger(ElementType type) { return IsSigned(type) || IsUnsigned(type); }

std::optional<ElementType> ElementTypeFromName(std::string_view name) {
  for (const ElementInfo& info : kElements) {
    if (name == info.name) return info.type;
  }
  return std::nullopt;
}

int64_t Type::elements() const {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ","), "]");
}

std::string FloatText(float value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + 32, value);
  return error == std::errc() ? std::string(buffer, end) : "?";
}

std::string TypeText(const Type& type) {
  std::string text =
      absl::StrCat(ElementTypeName(type.element), ShapeText(type.shape));
  if (!type.quantization) return text;
  const Quantization& q = *type.quantization;
  if (q.per_channel()) {
    const auto format = [](std::string* out, float scale) {
      out->append(FloatText(scale));
    };
    absl::StrAppend(&text, "{axis=", q.axis, ", scale=[",
                    absl::StrJoin(q.scales, ", ", format), "]");
  } else {
    absl::StrAppend(&text,
                    "{scale=", q.scales.empty() ? "?" : FloatText(q.scales[0]));
  }
  if (q.zero_point != 0) absl::StrAppend(&text, ", zero=", q.zero_point);
  return text + "}";
}

}  // namespace systole::ir
