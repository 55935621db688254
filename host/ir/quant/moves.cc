// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A move is defined by the source of each element of the result: an operand and
// an offset in it, or none (padding).
#include <algorithm>
#include <type_traits>

#include "host/ir/quant/kernels.h"

namespace systole::ir {
namespace {

struct Source {
  size_t operand = 0;
  int64_t offset = -1;  // below 0: padding
};

int64_t Offset(const Ints& position, const Ints& shape) {
  const Ints strides = StridesOf(shape);
  int64_t offset = 0;
  for (size_t i = 0; i < shape.size(); ++i) offset += position[i] * strides[i];
  return offset;
}

// Source of the element at `index` of the result. `begins`: positions of a
// concatenation's operands along its axis.
Source SourceOf(const Node& node, int64_t linear, const Ints& index,
                const Ints& begins) {
  const Ints& shape = node.operands[0]->type.shape;
  Ints position = index;
  switch (node.op) {
    case Op::kPad: {
      const Ints& low = node.attr<PadAttributes>().low;
      for (size_t i = 0; i < index.size(); ++i) {
        position[i] -= low[i];
        if (position[i] < 0 || position[i] >= shape[i]) return {};
      }
      return {0, Offset(position, shape)};
    }
    case Op::kTranspose: {
      const Ints& permutation = node.attr<TransposeAttributes>().permutation;
      for (size_t i = 0; i < index.size(); ++i) {
        position[permutation[i]] = index[i];
      }
      return {0, Offset(position, shape)};
    }
    case Op::kStridedSlice: {
      const auto& a = node.attr<SliceAttributes>();
      for (size_t i = 0; i < index.size(); ++i) {
        position[i] = a.begin[i] + index[i] * a.stride[i];
      }
      return {0, Offset(position, shape)};
    }
    case Op::kConcatenate: {
      const int64_t axis = node.attr<AxisAttributes>().axis;
      const auto after =
          std::upper_bound(begins.begin(), begins.end(), position[axis]);
      const size_t operand = after - begins.begin() - 1;
      position[axis] -= begins[operand];
      return {operand, Offset(position, node.operands[operand]->type.shape)};
    }
    default:  // reshape
      return {0, linear};
  }
}

}  // namespace

absl::StatusOr<Literal> EvaluateMove(const Node& node,
                                     const Operands& operands) {
  Literal result = Literal::Zeros(node.type.element, node.type.elements());
  const int64_t padding =
      node.op == Op::kPad ? node.attr<PadAttributes>().value : 0;
  Ints begins;
  if (node.op == Op::kConcatenate) {
    const int64_t axis = node.attr<AxisAttributes>().axis;
    int64_t begin = 0;
    for (const Node* operand : node.operands) {
      begins.push_back(begin);
      begin += operand->type.shape[axis];
    }
  }
  result.Visit([&](auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    Ints index(node.type.shape.size(), 0);
    for (size_t linear = 0; linear < values.size(); ++linear) {
      const Source source =
          SourceOf(node, static_cast<int64_t>(linear), index, begins);
      values[linear] =
          source.offset < 0
              ? static_cast<T>(padding)
              : operands[source.operand]->values<T>()[source.offset];
      Advance(node.type.shape, index);
    }
  });
  return result;
}

}  // namespace systole::ir
