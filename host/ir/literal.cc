// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/literal.h"

namespace systole::ir {

// Bytes are copied as they lie: the host must be little-endian.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

Literal Literal::Zeros(ElementType element, int64_t count) {
  switch (element) {
    case ElementType::kInt8:
      return Literal(std::vector<int8_t>(count));
    case ElementType::kInt16:
      return Literal(std::vector<int16_t>(count));
    case ElementType::kInt32:
      return Literal(std::vector<int32_t>(count));
    case ElementType::kFloat32:
      return Literal(std::vector<float>(count));
  }
  return Literal();
}

Literal Literal::FromBytes(ElementType element, int64_t count,
                           const uint8_t* bytes) {
  Literal literal = Zeros(element, count);
  literal.Visit([&](auto& values) {
    if (count > 0) {
      std::memcpy(values.data(), bytes, values.size() * sizeof(values[0]));
    }
  });
  return literal;
}

Literal Literal::Slice(int64_t first, int64_t count) const {
  return Visit([&](const auto& v) {
    const auto begin = v.begin() + first;
    return Literal(std::decay_t<decltype(v)>(begin, begin + count));
  });
}

void Literal::Append(const Literal& more) {
  Visit([&](auto& v) {
    const auto& from = std::get<std::decay_t<decltype(v)>>(more.values_);
    v.insert(v.end(), from.begin(), from.end());
  });
}

std::vector<uint8_t> Literal::Bytes() const {
  return Visit([](const auto& values) {
    std::vector<uint8_t> bytes(values.size() * sizeof(values[0]));
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  });
}

}  // namespace systole::ir
