// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/literal.h"

#include <cstring>

namespace systole::ir {

// Bytes are copied unchanged, so the host must be little-endian.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

Literal::Literal() : element_(ElementType::kInt8) {
  static const auto& empty =
      *new std::shared_ptr<void>(std::make_shared<std::vector<int8_t>>());
  values_ = empty;
}

Literal Literal::Zeros(ElementType element, int64_t count) {
  return WithElement(element, [&](auto tag) {
    return Literal(std::vector<typename decltype(tag)::type>(count));
  });
}

Literal Literal::FromBytes(ElementType element, int64_t count,
                           const uint8_t* bytes) {
  Literal literal = Zeros(element, count);
  if (element == ElementType::kBool) {
    std::vector<Bool>& values = literal.values<Bool>();
    for (int64_t i = 0; i < count; ++i) values[i] = bytes[i] != 0;
  } else if (count > 0) {
    std::memcpy(literal.data(), bytes, count * ElementBytes(element));
  }
  return literal;
}

int64_t Literal::size() const {
  return Visit([](const auto& v) { return static_cast<int64_t>(v.size()); });
}

const uint8_t* Literal::data() const {
  return Visit(
      [](const auto& v) { return reinterpret_cast<const uint8_t*>(v.data()); });
}

uint8_t* Literal::data() {
  return Visit([](auto& v) { return reinterpret_cast<uint8_t*>(v.data()); });
}

Literal Literal::Slice(int64_t first, int64_t count) const {
  return Visit([&](const auto& v) {
    const auto begin = v.begin() + first;
    return Literal(std::decay_t<decltype(v)>(begin, begin + count));
  });
}

void Literal::Append(const Literal& more) {
  Visit([&](auto& v) {
    using T = typename std::decay_t<decltype(v)>::value_type;
    const std::vector<T>& from = more.values<T>();
    v.insert(v.end(), from.begin(), from.end());
  });
}

std::vector<uint8_t> Literal::Bytes() const {
  const uint8_t* bytes = data();
  return {bytes, bytes + size() * ElementBytes(element_)};
}

bool Literal::operator==(const Literal& other) const {
  return element_ == other.element_ && size() == other.size() &&
         (size() == 0 || data() == other.data() ||
          std::memcmp(data(), other.data(), size() * ElementBytes(element_)) ==
              0);
}

}  // namespace systole::ir
