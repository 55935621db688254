// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Sums as bytes, the steps of an LSTM, and operations that only floats have.
#include <cmath>
#include <limits>
#include <utility>

#include "verif/golden/interpreter_nodes.h"
#include "verif/golden/lstm.h"
#include "verif/golden/pointwise.h"

namespace systole::golden {
namespace {

// The bytes of the sums, lowest first.
absl::StatusOr<Literal> SumBytes(const Node& node, const Operands& operands) {
  const ir::Ints& shape = node.operands[1]->type.shape;
  const Eigen::Map<const Matrix<int8_t>> input(
      operands[0]->values<int8_t>().data(), operands[0]->size() / shape[1],
      shape[1]);
  const Eigen::Map<const Matrix<int8_t>> weights(
      operands[1]->values<int8_t>().data(), shape[0], shape[1]);
  const absl::StatusOr<Matrix<int32_t>> sums = Matmul(input, weights, 0);
  if (!sums.ok()) return sums.status();
  std::vector<int8_t> bytes;
  for (int64_t i = 0; i < sums->size(); ++i) {
    for (int shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<int8_t>(sums->data()[i] >> shift));
    }
  }
  return Literal(std::move(bytes));
}

absl::StatusOr<Literal> Words(const Operands& operands) {
  const std::vector<uint8_t> bytes = operands[0]->Bytes();
  std::vector<int32_t> words;
  for (size_t i = 0; i < bytes.size(); i += 4) {
    words.push_back(static_cast<int32_t>(
        bytes[i] | uint32_t{bytes[i + 1]} << 8 | uint32_t{bytes[i + 2]} << 16 |
        uint32_t{bytes[i + 3]} << 24));
  }
  return Literal(std::move(words));
}

// Infinity becomes the largest number; NaN is unchanged.
float Finite(float value) {
  const float most = std::numeric_limits<float>::max();
  if (value > most) return most;
  return value < -most ? -most : value;
}

// A row of the inputs of an LSTM's steps.
struct Row {
  Row(const Operands& operands, int64_t row, int64_t units)
      : sums{operands[0]->values<int32_t>().data() + 4 * row * units,
             operands[1]->values<int32_t>().data() + 4 * row * units} {
    const auto first = operands[2]->values<int16_t>().begin() + row * units;
    cells.assign(first, first + units);
  }

  LstmSums sums;
  std::vector<int16_t> cells;
};

int ExponentOf(const Node& cell) {
  return static_cast<int>(std::lround(std::log2(ScaleOf(cell))));
}

absl::StatusOr<Literal> Cells(const Node& node, const Operands& operands) {
  const auto& a = node.attr<ir::LstmCellAttributes>();
  std::array<GateFactors, 3> factors;
  for (int i = 0; i < 3; ++i) {
    factors[i] = {a.input_factors[i], a.recurrent_factors[i]};
  }
  std::vector<int16_t> values;
  for (int64_t row = 0; row < node.type.shape[0]; ++row) {
    const Row given(operands, row, node.type.shape[1]);
    const auto cells = LstmCells(given.sums, factors, given.cells,
                                 ExponentOf(node), static_cast<int>(a.clip));
    if (!cells.ok()) return cells.status();
    values.insert(values.end(), cells->begin(), cells->end());
  }
  return Literal(std::move(values));
}

absl::StatusOr<Literal> Results(const Node& node, const Operands& operands) {
  const auto& a = node.attr<ir::LstmOutputAttributes>();
  std::vector<int8_t> values;
  for (int64_t row = 0; row < node.type.shape[0]; ++row) {
    const Row given(operands, row, node.type.shape[1]);
    const auto results =
        LstmResults(given.sums, {a.input_factor, a.recurrent_factor},
                    given.cells, ExponentOf(*node.operands[2]), a.hidden_scale,
                    static_cast<int>(a.hidden_zero));
    if (!results.ok()) return results.status();
    values.insert(values.end(), results->begin(), results->end());
  }
  return Literal(std::move(values));
}

}  // namespace

absl::StatusOr<Literal> Recurrent(const Node& node, const Operands& operands) {
  switch (node.op) {
    case Op::kDenseSums:
      return SumBytes(node, operands);
    case Op::kBitcast:
      return Words(operands);
    case Op::kLstmCell:
      return Cells(node, operands);
    default:
      return Results(node, operands);
  }
}

absl::StatusOr<Literal> Quotients(const Node& node, const Operands& operands) {
  return Values<float>(
      Zip<float>(Stretched<float>(node, operands, 0),
                 Stretched<float>(node, operands, 1), [&](float a, float b) {
                   return node.op == Op::kPow ? std::pow(a, b) : Finite(a / b);
                 }));
}

absl::StatusOr<Literal> VolumeConvolution(const Node& node,
                                          const Operands& operands) {
  const auto& a = node.attr<ir::Conv3DAttributes>();
  const Array<float> input = ArrayOf<float>(*node.operands[0], *operands[0]);
  const Array<float> weights = ArrayOf<float>(*node.operands[1], *operands[1]);
  const Shape from = Strides(input.shape), taps = Strides(weights.shape);
  const auto value = [&](const Shape& at) {
    float sum = 0;
    // Adds products one by one: tap by tap, channel by channel.
    ForEachIndex({weights.shape.begin(), weights.shape.end() - 1},
                 [&](const Shape& tap) {
                   int64_t source = at[0] * from[0] + tap[3];
                   for (int i = 0; i < 3; ++i) {
                     const int64_t place = at[1 + i] * a.stride[i] -
                                           a.padding[i] +
                                           tap[i] * a.dilation[i];
                     if (place < 0 || place >= input.shape[1 + i]) return;
                     source += place * from[1 + i];
                   }
                   int64_t weight = at[4];
                   for (int i = 0; i < 4; ++i) weight += tap[i] * taps[i];
                   sum += input.values[source] * weights.values[weight];
                 });
    if (operands.size() == 3) sum += operands[2]->values<float>()[at[4]];
    return Finite(sum);
  };
  return Values<float>(
      absl::StatusOr<Array<float>>(Generate<float>(node.type.shape, value)));
}

}  // namespace systole::golden
