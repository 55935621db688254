// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include <cmath>
#include <limits>
#include <utility>

#include "host/ir/evaluate_kernels.h"
#include "host/ir/fixed_point.h"

namespace systole::ir {
namespace {

constexpr int kAddShift = 20;
const Ints& WholeRange() {
  static const auto& range = *new Ints{-128, 127};
  return range;
}

float ScaleOf(const Node& node) { return node.quantization().scale(); }
int32_t ZeroOf(const Node& node) { return node.quantization().zero_point; }

// Strides of an operand in the result's index; 0 where it is stretched.
Ints StretchedStrides(const Ints& shape, const Ints& result) {
  const Ints strides = StridesOf(shape);
  Ints stretched(result.size(), 0);
  const size_t missing = result.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > 1) stretched[i + missing] = strides[i];
  }
  return stretched;
}

int64_t Dot(const Ints& a, const Ints& b) {
  int64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Calls function(a, b), centred values, for each element of the result.
template <typename Function>
Literal ForEachPair(const Node& node, const Operands& operands,
                    Function function) {
  const Ints& shape = node.type.shape;
  Ints strides[2];
  for (int i : {0, 1}) {
    strides[i] = StretchedStrides(node.operands[i]->type.shape, shape);
  }
  const Ints& clamp = node.attr<ClampAttributes>().clamp;
  std::vector<int8_t> values(node.type.elements());
  Ints index(shape.size(), 0);
  for (int8_t& value : values) {
    int32_t centred[2];
    for (int i : {0, 1}) {
      centred[i] = operands[i]->values<int8_t>()[Dot(strides[i], index)] -
                   ZeroOf(*node.operands[i]);
    }
    value = ToOutput(function(centred[0], centred[1]), ZeroOf(node), clamp);
    Advance(shape, index);
  }
  return Literal(std::move(values));
}

absl::StatusOr<Literal> Sum(const Node& node, const Operands& operands) {
  const double left = ScaleOf(*node.operands[0]);
  const double right = ScaleOf(*node.operands[1]);
  const double twice = 2 * std::max(left, right);
  const double reals[] = {left / twice, right / twice,
                          twice / ((1 << kAddShift) * double{ScaleOf(node)})};
  Factor factors[3];
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<Factor> factor = FactorOf(reals[i]);
    if (!factor.ok()) return factor.status();
    factors[i] = *factor;
  }
  // A subtraction adds the product with a negative factor.
  if (node.op == Op::kSub) factors[1].multiplier = -factors[1].multiplier;
  return ForEachPair(node, operands, [&](int32_t a, int32_t b) {
    const int32_t sum = Scale(a * (1 << kAddShift), factors[0]) +
                        Scale(b * (1 << kAddShift), factors[1]);
    return Scale(sum, factors[2]);
  });
}

// Values centred, times a factor.
absl::StatusOr<Literal> Rescaled(const Node& node, const Literal& input,
                                 double real, const Ints& clamp) {
  const absl::StatusOr<Factor> factor = FactorOf(real);
  if (!factor.ok()) return factor.status();
  std::vector<int8_t> values = input.values<int8_t>();
  for (int8_t& value : values) {
    value = ToOutput(Scale(value - ZeroOf(*node.operands[0]), *factor),
                     ZeroOf(node), clamp);
  }
  return Literal(std::move(values));
}

Literal Quantised(const Node& node, const Literal& input) {
  std::vector<int8_t> values;
  for (float real : input.values<float>()) {
    const float steps = std::round(real / ScaleOf(node));
    const double sum = (std::isnan(steps) ? 0 : double{steps}) + ZeroOf(node);
    values.push_back(static_cast<int8_t>(std::clamp(sum, -128.0, 127.0)));
  }
  return Literal(std::move(values));
}

Literal Dequantised(const Node& from, const Literal& input) {
  std::vector<float> values;
  for (int8_t value : input.values<int8_t>()) {
    values.push_back(
        static_cast<float>(double{ScaleOf(from)} * (value - ZeroOf(from))));
  }
  return Literal(std::move(values));
}

}  // namespace

absl::StatusOr<Literal> EvaluateBinary(const Node& node,
                                       const Operands& operands) {
  if (node.op != Op::kMul) return Sum(node, operands);
  // Single precision, as specified.
  const float real =
      ScaleOf(*node.operands[0]) * ScaleOf(*node.operands[1]) / ScaleOf(node);
  const absl::StatusOr<Factor> factor = FactorOf(real);
  if (!factor.ok()) return factor.status();
  return ForEachPair(node, operands, [&](int32_t a, int32_t b) {
    return Scale(a * b, *factor);
  });
}

absl::StatusOr<Literal> EvaluateConversion(const Node& node,
                                           const Operands& operands) {
  const Node& from = *node.operands[0];
  if (node.op == Op::kDequantize) return Dequantised(from, *operands[0]);
  if (from.type.element == ElementType::kFloat32) {
    return Quantised(node, *operands[0]);
  }
  if (node.op == Op::kRelu) {  // single precision, as specified
    const float real = ScaleOf(from) / ScaleOf(node);
    return Rescaled(node, *operands[0], real,
                    node.attr<ClampAttributes>().clamp);
  }
  return Rescaled(node, *operands[0], double{ScaleOf(from)} / ScaleOf(node),
                  WholeRange());
}

absl::StatusOr<Literal> EvaluateMean(const Node& node,
                                     const Operands& operands) {
  const Node& from = *node.operands[0];
  absl::StatusOr<Factor> factor =
      FactorOf(double{ScaleOf(from)} / ScaleOf(node));
  if (!factor.ok()) return factor.status();
  Ints kept = from.type.shape;
  int64_t count = 1;
  for (int64_t axis : node.attr<ReduceAttributes>().axes) {
    count *= kept[axis];
    kept[axis] = 1;
  }
  // 1 / count joins the factor.
  int shift = 0;
  while (count >> shift > 1) ++shift;
  shift = std::min({shift, 32, 31 + factor->shift});
  factor->multiplier =
      static_cast<int32_t>((int64_t{factor->multiplier} << shift) / count);
  factor->shift -= shift;

  const Ints strides = StretchedStrides(kept, from.type.shape);
  std::vector<int64_t> sums(node.type.elements(), 0);
  Ints index(from.type.shape.size(), 0);
  for (int8_t value : operands[0]->values<int8_t>()) {
    sums[Dot(strides, index)] += value - ZeroOf(from);
    Advance(from.type.shape, index);
  }
  std::vector<int8_t> values;
  for (int64_t sum : sums) {
    values.push_back(ToOutput(Scale(static_cast<int32_t>(sum), *factor),
                              ZeroOf(node), WholeRange()));
  }
  return Literal(std::move(values));
}

}  // namespace systole::ir
