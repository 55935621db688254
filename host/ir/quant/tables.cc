// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A result depends on one input value, or on its difference from the maximum of
// the row. So each function is computed once for all possible values.
#include <array>
#include <cmath>
#include <utility>

#include "host/ir/quant/fixed_point.h"
#include "host/ir/quant/kernels.h"

namespace systole::ir {
namespace {

// The largest distance of an input from zero that still fits `integer_bits`
// after the left shift.
int64_t Radius(int integer_bits, int shift) {
  return static_cast<int64_t>(std::floor(
      std::ldexp((1 << integer_bits) - 1, 31 - integer_bits - shift)));
}

// 16-bit arithmetic of hard_swish, computed with wider integers.
int32_t Product16(int32_t a, int32_t b, bool round) {
  const int32_t ab = a * b;
  const int32_t half = !round ? 0 : ab >= 0 ? 1 << 14 : 1 - (1 << 14);
  return Clamped16((int64_t{ab} + half) / (1 << 15));  // towards zero
}
// The 16-bit kernel can round off at most 15 bits.
int32_t Right16(int32_t value, int bits) {
  if (bits > 15) return value < 0 ? -1 : 1;
  return Shift(value, -bits);
}
int32_t Factor16(int32_t multiplier) {
  return Clamped16((int64_t{multiplier} + (1 << 15)) >> 16);
}

absl::StatusOr<Literal> HardSwish(const Node& node, const Literal& input) {
  const Quantization& from = node.operands[0]->quantization();
  const Quantization& to = node.quantization();
  const float fine = from.scale() / 128;  // of the input, shifted to the left
  const absl::StatusOr<Factor> out = FactorOf(double{fine / to.scale()});
  if (!out.ok()) return out.status();
  const absl::StatusOr<Factor> gate = FactorOf(double{fine / (3.0f / 32768)});
  if (!gate.ok()) return gate.status();
  std::array<int8_t, 256> table;
  for (int value = -128; value <= 127; ++value) {
    const int32_t x = (value - from.zero_point) * 128;
    int32_t open = x;  // (x + 3) / 6 in 0 .. 1, once the gate is applied
    if (gate->shift > 0)
      open = Clamped16(int64_t{open} * (int64_t{1} << (gate->shift - 1)));
    open = Product16(open, Factor16(gate->multiplier), true);
    if (gate->shift > 0) open = Clamped16(int64_t{open} * 2);
    if (gate->shift < 0) open = Right16(open, -gate->shift);
    open = (open + 32768) >> 1;
    const int32_t y =
        Product16(open, Product16(x, Factor16(out->multiplier), true), false);
    table[value + 128] = Clamped(Right16(y, -out->shift) + to.zero_point);
  }
  std::vector<int8_t> values = input.values<int8_t>();
  for (int8_t& value : values) value = table[value + 128];
  return Literal(std::move(values));
}

// e^(-d * beta * scale) for d = 0 .. 255; 0 where it is negligible.
absl::StatusOr<std::array<int32_t, 256>> Exponentials(double slope) {
  const double real = std::min(std::ldexp(slope, 26), std::ldexp(1.0, 31) - 1);
  // The factor may be up to 2^31, so it is halved to be representable.
  absl::StatusOr<Factor> factor = FactorOf(real / 2);
  if (!factor.ok()) return factor.status();
  const int shift = factor->shift + 1;
  const int64_t farthest = Radius(5, shift);
  std::array<int32_t, 256> table{};
  for (int d = 0; d < 256 && d <= farthest; ++d) {
    table[d] = ExpOf(HighProduct(Saturate(-int64_t{d} * (int64_t{1} << shift)),
                                 factor->multiplier),
                     5);
  }
  return table;
}

// T: the type of the results, 8 or 16 bits.
template <typename T>
absl::StatusOr<Literal> Softmax(const Node& node, const Literal& input) {
  const auto table = Exponentials(double{node.attr<SoftmaxAttributes>().beta} *
                                  node.operands[0]->quantization().scale());
  if (!table.ok()) return table.status();
  constexpr int kBits = 8 * sizeof(T);
  constexpr int64_t kLowest = std::numeric_limits<T>::min();
  const std::vector<int8_t>& from = input.values<int8_t>();
  std::vector<T> values(from.size());
  const int64_t depth = node.type.shape.back();
  auto to = values.begin();
  for (auto row = from.begin(); row != from.end(); row += depth) {
    const int highest = *std::max_element(row, row + depth);
    int32_t sum = 0;
    for (int64_t i = 0; i < depth; ++i) {
      sum += Shift((*table)[highest - row[i]], -12);
    }
    const int zeros = __builtin_clz(static_cast<uint32_t>(sum));
    const auto fraction = static_cast<int32_t>(
        (static_cast<uint32_t>(sum) << zeros) - (uint32_t{1} << 31));
    const int32_t inverse = InverseOfOnePlus(fraction);
    for (int64_t i = 0; i < depth; ++i) {
      const int32_t e = (*table)[highest - row[i]];
      const int32_t share = Shift(HighProduct(inverse, e), zeros - 43 + kBits);
      *to++ = static_cast<T>(std::min(share + kLowest, -1 - kLowest));
    }
  }
  return Literal(std::move(values));
}

}  // namespace

absl::StatusOr<Literal> EvaluateTable(const Node& node,
                                      const Operands& operands) {
  if (node.op != Op::kSoftmax) return HardSwish(node, *operands[0]);
  return node.type.element == ElementType::kInt16
             ? Softmax<int16_t>(node, *operands[0])
             : Softmax<int8_t>(node, *operands[0]);
}

}  // namespace systole::ir
