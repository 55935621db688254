// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The values of a tensor, in the tensor's element type, row-major.
#ifndef SYSTOLE_HOST_IR_LITERAL_H_
#define SYSTOLE_HOST_IR_LITERAL_H_

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/ir/scalar.h"
#include "host/ir/type.h"

namespace systole::ir {

template <typename T>
struct ElementOf;
template <>
struct ElementOf<Bool> {
  static constexpr ElementType kType = ElementType::kBool;
};
template <>
struct ElementOf<int8_t> {
  static constexpr ElementType kType = ElementType::kInt8;
};
template <>
struct ElementOf<int16_t> {
  static constexpr ElementType kType = ElementType::kInt16;
};
template <>
struct ElementOf<int32_t> {
  static constexpr ElementType kType = ElementType::kInt32;
};
template <>
struct ElementOf<int64_t> {
  static constexpr ElementType kType = ElementType::kInt64;
};
template <>
struct ElementOf<uint8_t> {
  static constexpr ElementType kType = ElementType::kUint8;
};
template <>
struct ElementOf<uint16_t> {
  static constexpr ElementType kType = ElementType::kUint16;
};
template <>
struct ElementOf<uint32_t> {
  static constexpr ElementType kType = ElementType::kUint32;
};
template <>
struct ElementOf<uint64_t> {
  static constexpr ElementType kType = ElementType::kUint64;
};
template <>
struct ElementOf<Bfloat16> {
  static constexpr ElementType kType = ElementType::kBfloat16;
};
template <>
struct ElementOf<Float16> {
  static constexpr ElementType kType = ElementType::kFloat16;
};
template <>
struct ElementOf<float> {
  static constexpr ElementType kType = ElementType::kFloat32;
};

template <typename T>
struct TypeTag {
  using type = T;
};

// Calls `function(TypeTag<T>())` with the C++ type of the elements.
template <typename Function>
decltype(auto) WithElement(ElementType element, Function&& function) {
  switch (element) {
    case ElementType::kBool:
      return function(TypeTag<Bool>());
    case ElementType::kInt8:
      return function(TypeTag<int8_t>());
    case ElementType::kInt16:
      return function(TypeTag<int16_t>());
    case ElementType::kInt32:
      return function(TypeTag<int32_t>());
    case ElementType::kInt64:
      return function(TypeTag<int64_t>());
    case ElementType::kUint8:
      return function(TypeTag<uint8_t>());
    case ElementType::kUint16:
      return function(TypeTag<uint16_t>());
    case ElementType::kUint32:
      return function(TypeTag<uint32_t>());
    case ElementType::kUint64:
      return function(TypeTag<uint64_t>());
    case ElementType::kBfloat16:
      return function(TypeTag<Bfloat16>());
    case ElementType::kFloat16:
      return function(TypeTag<Float16>());
    case ElementType::kFloat32:
      return function(TypeTag<float>());
  }
  std::abort();
}

// Copies share their values until one of them is written to.
class Literal {
 public:
  Literal();  // no values of i8
  template <typename T>
  explicit Literal(std::vector<T> values)
      : element_(ElementOf<T>::kType),
        values_(std::make_shared<std::vector<T>>(std::move(values))) {}
  // `count` zeros.
  static Literal Zeros(ElementType element, int64_t count);
  // From the little-endian bytes of `count` elements.
  static Literal FromBytes(ElementType element, int64_t count,
                           const uint8_t* bytes);

  ElementType element() const { return element_; }
  int64_t size() const;
  // The elements must be of type T.
  template <typename T>
  const std::vector<T>& values() const {
    if (element_ != ElementOf<T>::kType) std::abort();
    return *static_cast<const std::vector<T>*>(values_.get());
  }
  template <typename T>
  std::vector<T>& values() {
    if (values_.use_count() > 1) {
      *this = Literal(std::vector<T>(std::as_const(*this).values<T>()));
    }
    return const_cast<std::vector<T>&>(std::as_const(*this).values<T>());
  }
  // Calls `function` with the vector of values.
  template <typename Function>
  decltype(auto) Visit(Function&& function) const {
    return WithElement(element_, [&](auto tag) -> decltype(auto) {
      return function(values<typename decltype(tag)::type>());
    });
  }
  template <typename Function>
  decltype(auto) Visit(Function&& function) {
    return WithElement(element_, [&](auto tag) -> decltype(auto) {
      return function(values<typename decltype(tag)::type>());
    });
  }
  // The same for the types that the operations of quant/ use: the elements must
  // be i8, i16, i32 or f32.
  template <typename Function>
  decltype(auto) VisitQuant(Function&& function) const {
    switch (element_) {
      case ElementType::kInt8:
        return function(values<int8_t>());
      case ElementType::kInt16:
        return function(values<int16_t>());
      case ElementType::kInt32:
        return function(values<int32_t>());
      case ElementType::kFloat32:
        return function(values<float>());
      default:
        std::abort();
    }
  }

  // The first value.
  const uint8_t* data() const;
  uint8_t* data();

  // `count` values from `first` on.
  Literal Slice(int64_t first, int64_t count) const;
  // `more` must have the same element type.
  void Append(const Literal& more);

  // Little-endian.
  std::vector<uint8_t> Bytes() const;
  // Compares bits, so NaN equals itself.
  bool operator==(const Literal& other) const;

 private:
  ElementType element_;
  std::shared_ptr<void> values_;  // a std::vector of the element's C++ type
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_LITERAL_H_
