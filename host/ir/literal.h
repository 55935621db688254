// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The values of a tensor, in the tensor's element type, row-major.
#ifndef SYSTOLE_HOST_IR_LITERAL_H_
#define SYSTOLE_HOST_IR_LITERAL_H_

#include <cstdint>
#include <cstring>
#include <utility>
#include <variant>
#include <vector>

#include "host/ir/type.h"

namespace systole::ir {

// Alternatives in the order of ElementType.
class Literal {
 public:
  Literal() = default;
  template <typename T>
  explicit Literal(std::vector<T> values) : values_(std::move(values)) {}
  // `count` zeros.
  static Literal Zeros(ElementType element, int64_t count);
  // From little-endian bytes, as many as `count` elements have.
  static Literal FromBytes(ElementType element, int64_t count,
                           const uint8_t* bytes);

  ElementType element() const {
    return static_cast<ElementType>(values_.index());
  }
  int64_t size() const {
    return std::visit(
        [](const auto& v) { return static_cast<int64_t>(v.size()); }, values_);
  }
  // The stored alternative must be T.
  template <typename T>
  const std::vector<T>& values() const {
    return std::get<std::vector<T>>(values_);
  }
  template <typename T>
  std::vector<T>& values() {
    return std::get<std::vector<T>>(values_);
  }
  // Calls `function` with the vector of values.
  template <typename Function>
  decltype(auto) Visit(Function&& function) const {
    return std::visit(std::forward<Function>(function), values_);
  }
  template <typename Function>
  decltype(auto) Visit(Function&& function) {
    return std::visit(std::forward<Function>(function), values_);
  }

  // `count` values from `first` on.
  Literal Slice(int64_t first, int64_t count) const;
  // `more` has the same element type.
  void Append(const Literal& more);

  // Little-endian.
  std::vector<uint8_t> Bytes() const;
  // Equal bits, so that NaN equals itself.
  bool operator==(const Literal& other) const {
    return element() == other.element() && Bytes() == other.Bytes();
  }

 private:
  std::variant<std::vector<int8_t>, std::vector<int16_t>, std::vector<int32_t>,
               std::vector<float>>
      values_;
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_LITERAL_H_
