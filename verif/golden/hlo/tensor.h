// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Values of op set hlo, and helpers for indices. Elements of all types are
// stored as bits in a word.
#ifndef SYSTOLE_VERIF_GOLDEN_HLO_TENSOR_H_
#define SYSTOLE_VERIF_GOLDEN_HLO_TENSOR_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "host/ir/literal.h"
#include "host/ir/type.h"

namespace systole::golden::hlo {

using Element = ir::ElementType;
using Index = std::vector<int64_t>;

inline int64_t Product(const Index& sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

struct Tensor {
  Element element = Element::kFloat32;
  Index shape;
  std::vector<uint64_t> bits;

  Tensor() = default;
  Tensor(Element e, Index s)
      : element(e), shape(std::move(s)), bits(Product(shape)) {}

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t size() const { return static_cast<int64_t>(bits.size()); }
  int64_t At(const Index& index) const {
    int64_t place = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      place = place * shape[i] + index[i];
    return place;
  }
  uint64_t& operator[](const Index& index) { return bits[At(index)]; }
  uint64_t operator[](const Index& index) const { return bits[At(index)]; }
};

using Tensors = std::vector<Tensor>;

inline Tensor FromLiteral(const ir::Literal& literal, const Index& shape) {
  Tensor tensor(literal.element(), shape);
  const std::vector<uint8_t> bytes = literal.Bytes();
  const size_t each = ir::ElementBytes(literal.element());
  for (size_t i = 0; i < bytes.size(); ++i)
    tensor.bits[i / each] |= uint64_t{bytes[i]} << 8 * (i % each);
  return tensor;
}

inline ir::Literal ToLiteral(const Tensor& tensor) {
  const size_t each = ir::ElementBytes(tensor.element);
  std::vector<uint8_t> bytes(each * tensor.bits.size());
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(tensor.bits[i / each] >> 8 * (i % each));
  return ir::Literal::FromBytes(tensor.element, tensor.size(), bytes.data());
}

// Calls f(index) for every index of a shape, in ascending order.
template <typename Function>
void ForEach(const Index& shape, Function f) {
  const int64_t count = Product(shape);
  Index index(shape.size(), 0);
  for (int64_t n = 0; n < count; ++n) {
    f(index);
    for (size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
}

inline bool Contains(const Index& list, int64_t number) {
  for (const int64_t entry : list) {
    if (entry == number) return true;
  }
  return false;
}

// 0 to rank - 1 without the dimensions of the list.
inline Index Others(int64_t rank, const Index& list) {
  Index others;
  for (int64_t i = 0; i < rank; ++i) {
    if (!Contains(list, i)) others.push_back(i);
  }
  return others;
}

// The entries of `list` at the positions in `which`.
inline Index Pick(const Index& list, const Index& which) {
  Index picked;
  for (const int64_t i : which) picked.push_back(list[i]);
  return picked;
}

}  // namespace systole::golden::hlo

#endif  // SYSTOLE_VERIF_GOLDEN_HLO_TENSOR_H_
