// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The steps of an LSTM: docs/numerics.md.
#include <cmath>
#include <cstring>
#include <utility>

#include "host/ir/quant/fixed_point.h"
#include "host/ir/quant/kernels.h"

namespace systole::ir {
namespace {

constexpr int kSumBytes = 4;

// Computes the input of a gate's function: both sums in steps of 2^-12.
class Gate {
 public:
  static absl::StatusOr<Gate> Of(float input, float recurrent) {
    const absl::StatusOr<Factor> a = FactorOf(input);
    if (!a.ok()) return a.status();
    const absl::StatusOr<Factor> b = FactorOf(recurrent);
    if (!b.ok()) return b.status();
    return Gate{*a, *b};
  }

  int16_t operator()(int32_t input_sum, int32_t recurrent_sum) const {
    const int32_t first = Clamped16(Scale(input_sum, input_));
    return static_cast<int16_t>(
        Clamped16(int64_t{first} + Scale(recurrent_sum, recurrent_)));
  }

 private:
  Gate(Factor input, Factor recurrent) : input_(input), recurrent_(recurrent) {}

  Factor input_, recurrent_;
};

// The exponent of a cell's scale, a power of two.
int CellExponent(const Node& cell) {
  return std::ilogb(cell.quantization().scale());
}

}  // namespace

absl::StatusOr<Literal> EvaluateDenseSums(const Node& node,
                                          const Operands& operands) {
  const Ints& shape = node.operands[1]->type.shape;
  const std::vector<int8_t>& input = operands[0]->values<int8_t>();
  const std::vector<int8_t>& weights = operands[1]->values<int8_t>();
  std::vector<int8_t> bytes;
  bytes.reserve(node.type.elements());
  for (size_t row = 0; row < input.size(); row += shape[1]) {
    for (int64_t c = 0; c < shape[0]; ++c) {
      uint32_t sum = 0;
      for (int64_t i = 0; i < shape[1]; ++i) {
        sum +=
            static_cast<uint32_t>(input[row + i] * weights[c * shape[1] + i]);
      }
      for (int i = 0; i < kSumBytes; ++i) {
        bytes.push_back(static_cast<int8_t>(sum >> (8 * i)));
      }
    }
  }
  return Literal(std::move(bytes));
}

absl::StatusOr<Literal> EvaluateBitcast(const Node& node,
                                        const Operands& operands) {
  const std::vector<int8_t>& bytes = operands[0]->values<int8_t>();
  std::vector<int32_t> values(node.type.elements());
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t value = 0;
    for (int k = kSumBytes - 1; k >= 0; --k) {
      value = value << 8 | static_cast<uint8_t>(bytes[kSumBytes * i + k]);
    }
    values[i] = static_cast<int32_t>(value);
  }
  return Literal(std::move(values));
}

absl::StatusOr<Literal> EvaluateLstmCell(const Node& node,
                                         const Operands& operands) {
  const auto& a = node.attr<LstmCellAttributes>();
  std::vector<Gate> gates;
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<Gate> gate =
        Gate::Of(a.input_factors[i], a.recurrent_factors[i]);
    if (!gate.ok()) return gate.status();
    gates.push_back(*gate);
  }
  const std::vector<int32_t>& x = operands[0]->values<int32_t>();
  const std::vector<int32_t>& h = operands[1]->values<int32_t>();
  std::vector<int16_t> cells = operands[2]->values<int16_t>();
  const int64_t units = node.type.shape.back();
  const int exponent = CellExponent(node);
  for (size_t i = 0; i < cells.size(); ++i) {
    const size_t at = i / units * 4 * units + i % units;
    const auto sums = [&](int gate) {
      return gates[gate](x[at + gate * units], h[at + gate * units]);
    };
    const int32_t input = LogisticOf16(sums(0));
    const int32_t forget = LogisticOf16(sums(1));
    const int32_t candidate = TanhOf16(sums(2), 3);
    const int32_t kept = Shift(forget * cells[i], -15);
    const int32_t added = Shift(input * candidate, -(30 + exponent));
    int32_t cell = Clamped16(int64_t{kept} + added);
    if (a.clip > 0) {
      cell = std::clamp<int32_t>(cell, -static_cast<int32_t>(a.clip),
                                 static_cast<int32_t>(a.clip));
    }
    cells[i] = static_cast<int16_t>(cell);
  }
  return Literal(std::move(cells));
}

absl::StatusOr<Literal> EvaluateLstmOutput(const Node& node,
                                           const Operands& operands) {
  const auto& a = node.attr<LstmOutputAttributes>();
  const absl::StatusOr<Gate> gate =
      Gate::Of(a.input_factor, a.recurrent_factor);
  if (!gate.ok()) return gate.status();
  // Single precision, as specified.
  const absl::StatusOr<Factor> hidden = FactorOf(static_cast<float>(
      std::ldexp(std::ldexp(1.0, -15) / a.hidden_scale, -15)));
  if (!hidden.ok()) return hidden.status();
  const std::vector<int32_t>& x = operands[0]->values<int32_t>();
  const std::vector<int32_t>& h = operands[1]->values<int32_t>();
  const std::vector<int16_t>& cells = operands[2]->values<int16_t>();
  const int64_t units = node.type.shape.back();
  const int bits = 15 + CellExponent(*node.operands[2]);
  std::vector<int8_t> values(cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    const size_t at = i / units * 4 * units + 3 * units + i % units;
    const int32_t open = LogisticOf16((*gate)(x[at], h[at]));
    values[i] = ToOutput(Scale(open * TanhOf16(cells[i], bits), *hidden),
                         a.hidden_zero, {-128, 127});
  }
  return Literal(std::move(values));
}

}  // namespace systole::ir
