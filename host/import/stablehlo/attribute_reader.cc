// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/stablehlo/attribute_reader.h"

#include <algorithm>
#include <cstring>

namespace systole::import {
namespace {

using mlir::Attribute;

constexpr int64_t kMaxValues = 1 << 20;  // of an attribute

// Whether a size, padding or index is within the limits of the IR.
bool InRange(int64_t value) {
  return -ir::kMaxElements <= value && value <= ir::kMaxElements;
}

}  // namespace

bool IntegerElements(const Attribute& elements, std::vector<int64_t>& values) {
  const mlir::Type* type = elements.type;
  if (elements.kind != Attribute::Kind::kElements ||
      type->kind != mlir::Type::Kind::kTensor) {
    return false;
  }
  const mlir::Type& element = *type->elements[0];
  const int bytes = ElementBytes(element);
  const int64_t count = NumElements(*type);
  if (element.kind != mlir::Type::Kind::kInteger &&
      element.kind != mlir::Type::Kind::kIndex &&
      element.kind != mlir::Type::Kind::kBoolean) {
    return false;
  }
  if (bytes == 0 || bytes > 8 || count < 0 || count > kMaxValues) return false;
  values.resize(count);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t word = 0;
    std::memcpy(&word,
                elements.data.data() + (elements.is_splat ? 0 : i * bytes),
                bytes);
    const int unused = 64 - 8 * bytes;
    values[i] = element.is_unsigned
                    ? static_cast<int64_t>(word)
                    : static_cast<int64_t>(word << unused) >> unused;
  }
  return true;
}

void AttributeReader::Fail(absl::string_view name, const char* what) {
  if (status_.ok()) {
    status_ = absl::InvalidArgumentError(
        absl::StrCat("attribute '", name, "' ", what));
  }
}

const Attribute* AttributeReader::Get(absl::string_view name) {
  if (!status_.ok()) return nullptr;
  const Attribute* found = operation_.Find(name);
  if (found == nullptr) Fail(name, "is missing");
  return found;
}

const Attribute* AttributeReader::GetKind(absl::string_view name,
                                          Attribute::Kind kind,
                                          const char* what) {
  const Attribute* found = Get(name);
  if (found == nullptr || found->kind == kind) return found;
  Fail(name, what);
  return nullptr;
}

int64_t AttributeReader::Integer(absl::string_view name) {
  const Attribute* found =
      GetKind(name, Attribute::Kind::kInteger, "is no integer");
  if (found == nullptr) return 0;
  if (found->integers.size() != 1 || !InRange(found->integers[0])) {
    Fail(name, "is out of range");
  }
  return status_.ok() ? found->integers[0] : 0;
}

bool AttributeReader::Boolean(absl::string_view name) {
  const Attribute* found =
      GetKind(name, Attribute::Kind::kBoolean, "is no boolean");
  return found && found->integers[0] != 0;
}

float AttributeReader::Float(absl::string_view name) {
  const Attribute* found =
      GetKind(name, Attribute::Kind::kFloat, "is no number");
  if (found == nullptr) return 0;
  if (found->type->name != "f32") {
    Fail(name, "is no f32");
    return 0;
  }
  const uint32_t bits = static_cast<uint32_t>(found->integers[0]);
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::string AttributeReader::Text(absl::string_view name) {
  const Attribute* found =
      GetKind(name, Attribute::Kind::kString, "is no text");
  return found ? std::string(found->text) : "";
}

int64_t AttributeReader::Enumeration(absl::string_view name,
                                     absl::string_view enumeration) {
  const Attribute* found =
      GetKind(name, Attribute::Kind::kEnum, "is no enumeration");
  if (found == nullptr) return 0;
  if (found->name != enumeration) Fail(name, "is another enumeration");
  return status_.ok() ? found->integers[0] : 0;
}

std::vector<int64_t> AttributeReader::Integers(absl::string_view name) {
  const Attribute* found =
      GetKind(name, Attribute::Kind::kElements, "is no list of integers");
  std::vector<int64_t> values;
  if (found && !IntegerElements(*found, values)) {
    Fail(name, "is no list of integers");
  }
  if (!std::all_of(values.begin(), values.end(), InRange)) {
    Fail(name, "is out of range");
  }
  return values;
}

std::vector<int64_t> AttributeReader::Shape(absl::string_view name) {
  const Attribute* found =
      GetKind(name, Attribute::Kind::kElements, "is no list of integers");
  return found ? found->type->shape : std::vector<int64_t>();
}

void AttributeReader::Pairs(absl::string_view name, std::vector<int64_t>& first,
                            std::vector<int64_t>& second) {
  const std::vector<int64_t> values = Integers(name);
  const std::vector<int64_t> shape = Shape(name);
  if (!status_.ok()) return;
  if (shape.size() != 2 || shape[1] != 2) {
    Fail(name, "is no list of pairs");
    return;
  }
  for (size_t i = 0; i + 1 < values.size(); i += 2) {
    first.push_back(values[i]);
    second.push_back(values[i + 1]);
  }
}

bool AttributeReader::IsNone(absl::string_view name) {
  const Attribute* found = Get(name);
  return found && found->kind == Attribute::Kind::kType &&
         found->type->kind == mlir::Type::Kind::kNone;
}

}  // namespace systole::import
