// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/mlir/module.h"

namespace systole::mlir {

const Attribute* Attribute::Find(absl::string_view key) const {
  if (kind != Kind::kDictionary) return nullptr;
  for (size_t i = 0; i + 1 < elements.size(); i += 2) {
    if (elements[i]->text == key) return elements[i + 1];
  }
  return nullptr;
}

const Attribute* Operation::Find(absl::string_view attribute) const {
  for (const auto& [name, value] : attributes) {
    if (name == attribute) return value;
  }
  return nullptr;
}

int64_t NumElements(const Type& tensor) {
  constexpr int64_t kLimit = int64_t{1} << 62;
  int64_t count = 1;
  bool empty = false;
  for (const int64_t size : tensor.shape) {
    if (size < 0) return -1;
    if (size == 0) empty = true;
    if (size != 0 && count > kLimit / size) return -1;
    if (size != 0) count *= size;
  }
  return empty ? 0 : count;
}

int ElementBytes(const Type& element) {
  switch (element.kind) {
    case Type::Kind::kBoolean:
      return 1;
    case Type::Kind::kIndex:
      return 8;
    case Type::Kind::kInteger:
    case Type::Kind::kFloat:
      return (element.width + 7) / 8;
    case Type::Kind::kComplex:
      return 2 * ElementBytes(*element.elements[0]);
    default:
      return 0;
  }
}

}  // namespace systole::mlir
