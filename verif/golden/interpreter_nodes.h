// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Common code for the evaluation of nodes, and the groups of nodes.
#ifndef SYSTOLE_VERIF_GOLDEN_INTERPRETER_NODES_H_
#define SYSTOLE_VERIF_GOLDEN_INTERPRETER_NODES_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/module.h"
#include "verif/golden/array_ops.h"
#include "verif/golden/ops.h"
#include "verif/golden/quantized_ops.h"

namespace systole::golden {

using ir::Literal;
using ir::Node;
using ir::Op;
using Operands = std::vector<const Literal*>;

inline float ScaleOf(const Node& node) { return node.quantization().scale(); }
inline int ZeroOf(const Node& node) { return node.quantization().zero_point; }
inline Affine AffineOf(const Node& node) {
  return {ScaleOf(node), ZeroOf(node)};
}

inline OutputRange RangeOf(const Node& node, const ir::Ints& clamp) {
  return {ZeroOf(node), static_cast<int>(clamp[0]), static_cast<int>(clamp[1])};
}

// Values of a rank-4 node.
inline TensorI8 Tensor4(const Node& node, const Literal& values) {
  const ir::Ints& s = node.type.shape;
  return TensorI8(s[0], s[1], s[2], s[3], values.values<int8_t>());
}

template <typename T = int8_t>
Array<T> ArrayOf(const Node& node, const Literal& values) {
  return {node.type.shape, values.values<T>()};
}

// Operand `i` stretched to the result's shape.
template <typename T = int8_t>
Array<T> Stretched(const Node& node, const Operands& operands, int i) {
  return Broadcast(ArrayOf<T>(*node.operands[i], *operands[i]),
                   node.type.shape);
}

inline absl::StatusOr<Literal> Values(absl::StatusOr<TensorI8> tensor) {
  if (!tensor.ok()) return tensor.status();
  return Literal(std::move(tensor->data()));
}

template <typename T>
absl::StatusOr<Literal> Values(absl::StatusOr<Array<T>> array) {
  if (!array.ok()) return array.status();
  return Literal(std::move(array->values));
}

// add, sub, mul.
absl::StatusOr<Literal> Arithmetic(const Node& node, const Operands& operands);
// squared_difference, prelu.
absl::StatusOr<Literal> Pairwise(const Node& node, const Operands& operands);
absl::StatusOr<Literal> Compare(const Node& node, const Operands& operands);
absl::StatusOr<Literal> Argument(const Node& node, const Operands& operands);
absl::StatusOr<Literal> MatrixProduct(const Node& node,
                                      const Operands& operands);
// abs to leaky_relu.
absl::StatusOr<Literal> Function(const Node& node, const Operands& operands);
// dense_sums, bitcast, lstm_cell, lstm_output.
absl::StatusOr<Literal> Recurrent(const Node& node, const Operands& operands);
// div, conv3d.
absl::StatusOr<Literal> Quotients(const Node& node, const Operands& operands);
absl::StatusOr<Literal> VolumeConvolution(const Node& node,
                                          const Operands& operands);
absl::StatusOr<Literal> Cast(const Node& node, const Operands& operands);
absl::StatusOr<Literal> SvdfState(const Node& node, const Operands& operands);
absl::StatusOr<Literal> SvdfOutput(const Node& node, const Operands& operands);
// quantize, dequantize.
absl::StatusOr<Literal> Converted(const Node& node, const Operands& operands);
// maximum, minimum, select, reductions of plain values, gather.
absl::StatusOr<Literal> OfAnyType(const Node& node, const Operands& operands);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_INTERPRETER_NODES_H_
