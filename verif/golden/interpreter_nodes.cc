// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/interpreter_nodes.h"

#include <algorithm>
#include <cmath>

#include "verif/golden/pointwise.h"
#include "verif/golden/rows.h"

namespace systole::golden {
namespace {

// Arithmetic of plain integers wraps, so it uses unsigned types.
int32_t Wrapped(Op op, int32_t a, int32_t b) {
  const auto x = static_cast<uint32_t>(a), y = static_cast<uint32_t>(b);
  if (op == Op::kMul) return static_cast<int32_t>(x * y);
  return static_cast<int32_t>(op == Op::kSub ? x - y : x + y);
}

template <typename T>
absl::StatusOr<Literal> Extremum(const Node& node, const Operands& operands) {
  const bool highest = node.op == Op::kMaximum;
  return Values<T>(
      Zip<T>(Stretched<T>(node, operands, 0), Stretched<T>(node, operands, 1),
             [&](T a, T b) { return (a > b) == highest ? a : b; }));
}

template <typename T>
absl::StatusOr<Literal> Select(const Node& node, const Operands& operands) {
  const Array<int8_t> condition = Stretched(node, operands, 0);
  const Array<T> no = Stretched<T>(node, operands, 2);
  Array<T> result = Stretched<T>(node, operands, 1);
  for (size_t i = 0; i < result.values.size(); ++i) {
    if (condition.values[i] == 0) result.values[i] = no.values[i];
  }
  return Values<T>(result);
}

// Sums and products of plain integers; minimum and maximum of any type.
template <typename T>
absl::StatusOr<Literal> Reduce(const Node& node, const Operands& operands) {
  const bool extremum = node.op == Op::kReduceMax || node.op == Op::kReduceMin;
  const Op step = node.op == Op::kReduceProd ? Op::kMul : Op::kAdd;
  std::vector<T> results;
  for (const std::vector<T>& group :
       Groups(ArrayOf<T>(*node.operands[0], *operands[0]),
              node.attr<ir::ReduceAttributes>().axes)) {
    T result = group[0];
    for (size_t i = 1; i < group.size(); ++i) {
      const T next = group[i];
      if (!extremum) {
        result = static_cast<T>(Wrapped(step, static_cast<int32_t>(result),
                                        static_cast<int32_t>(next)));
      } else if ((next > result) == (node.op == Op::kReduceMax)) {
        result = next;
      }
    }
    results.push_back(result);
  }
  return Literal(std::move(results));
}

template <typename T>
absl::StatusOr<Literal> Gathered(const Node& node, const Operands& operands) {
  const auto& [axis, batch] = node.attr<ir::GatherAttributes>();
  return Values(Gather(ArrayOf<T>(*node.operands[0], *operands[0]),
                       ArrayOf<int32_t>(*node.operands[1], *operands[1]), axis,
                       batch));
}

template <typename T>
absl::StatusOr<Literal> Typed(const Node& node, const Operands& operands) {
  switch (node.op) {
    case Op::kMaximum:
    case Op::kMinimum:
      return Extremum<T>(node, operands);
    case Op::kSelect:
      return Select<T>(node, operands);
    case Op::kGather:
      return Gathered<T>(node, operands);
    default:
      return Reduce<T>(node, operands);
  }
}

float RealFunction(const Node& node, float x) {
  switch (node.op) {
    case Op::kAbs:
      return std::fabs(x);
    case Op::kNeg:
      return -x;
    case Op::kExp:
      return std::exp(x);
    case Op::kLog:
      return std::log(x);
    case Op::kSqrt:
      return std::sqrt(x);
    case Op::kRsqrt:
      return 1.0f / std::sqrt(x);
    case Op::kLogistic:
      return 1.0f / (1.0f + std::exp(-x));
    case Op::kTanh:
      return std::tanh(x);
    case Op::kSin:
      return std::sin(x);
    case Op::kCos:
      return std::cos(x);
    case Op::kFloor:
      return std::floor(x);
    case Op::kCeil:
      return std::ceil(x);
    case Op::kRound:
      return std::rint(x);
    case Op::kElu:
      return Elu(x);
    case Op::kGelu:
      return Gelu(x, node.attr<ir::GeluAttributes>().approximate);
    default:
      return x >= 0 ? x : x * node.attr<ir::SlopeAttributes>().slope;
  }
}

}  // namespace

absl::StatusOr<Literal> Arithmetic(const Node& node, const Operands& operands) {
  const Node& left = *node.operands[0];
  const Node& right = *node.operands[1];
  if (!node.type.quantization) {
    return Values<int32_t>(Zip<int32_t>(
        Stretched<int32_t>(node, operands, 0),
        Stretched<int32_t>(node, operands, 1),
        [&](int32_t a, int32_t b) { return Wrapped(node.op, a, b); }));
  }
  const OutputRange range =
      RangeOf(node, node.attr<ir::ClampAttributes>().clamp);
  const Array<int8_t> a = Stretched(node, operands, 0);
  const Array<int8_t> b = Stretched(node, operands, 1);
  if (node.op == Op::kMul) {
    // Single precision, as specified.
    const float factor = ScaleOf(left) * ScaleOf(right) / ScaleOf(node);
    return Values(Mul(a, ZeroOf(left), b, ZeroOf(right), factor, range));
  }
  const auto multipliers =
      AddMultipliers(ScaleOf(left), ScaleOf(right), ScaleOf(node));
  if (!multipliers.ok()) return multipliers.status();
  AddParameters parameters;
  parameters.zero_point_a = ZeroOf(left);
  parameters.zero_point_b = ZeroOf(right);
  parameters.a = (*multipliers)[0];
  parameters.b = (*multipliers)[1];
  parameters.output = (*multipliers)[2];
  const int count = static_cast<int>(a.values.size());
  const TensorI8 x(1, 1, 1, count, a.values), y(1, 1, 1, count, b.values);
  return Values(node.op == Op::kAdd
                    ? Add(x, y, parameters, Rounding::kDouble, range)
                    : Sub(x, y, parameters, range));
}

absl::StatusOr<Literal> Pairwise(const Node& node, const Operands& operands) {
  const auto function = node.op == Op::kPrelu ? Prelu : SquaredDifference;
  return Values(function(Stretched(node, operands, 0),
                         AffineOf(*node.operands[0]),
                         Stretched(node, operands, 1),
                         AffineOf(*node.operands[1]), AffineOf(node)));
}

absl::StatusOr<Literal> Compare(const Node& node, const Operands& operands) {
  Array<int32_t> sides[2];
  for (int i : {0, 1}) {
    const Node& from = *node.operands[i];
    if (from.type.element == ir::ElementType::kInt32) {
      sides[i] = Stretched<int32_t>(node, operands, i);
      continue;
    }
    auto side = Comparable(Stretched(node, operands, i), AffineOf(from));
    if (!side.ok()) return side.status();
    sides[i] = *std::move(side);
  }
  return Values<int8_t>(
      Zip<int8_t>(sides[0], sides[1], [&](int32_t a, int32_t b) {
        const bool equal = a == b;
        if (node.op == Op::kEqual) return equal;
        if (node.op == Op::kNotEqual) return !equal;
        return a < b || (equal && node.op == Op::kLessEqual);
      }));
}

absl::StatusOr<Literal> Argument(const Node& node, const Operands& operands) {
  std::vector<int32_t> results;
  for (const std::vector<int8_t>& group :
       Groups(ArrayOf(*node.operands[0], *operands[0]),
              {node.attr<ir::AxisAttributes>().axis})) {
    const auto best = node.op == Op::kArgMax
                          ? std::max_element(group.begin(), group.end())
                          : std::min_element(group.begin(), group.end());
    results.push_back(static_cast<int32_t>(best - group.begin()));
  }
  return Literal(std::move(results));
}

absl::StatusOr<Literal> MatrixProduct(const Node& node,
                                      const Operands& operands) {
  const auto& a = node.attr<ir::MatmulAttributes>();
  const bool transposed[] = {a.transpose_left, a.transpose_right};
  Array<int8_t> sides[2];
  for (int i : {0, 1}) {
    sides[i] = ArrayOf(*node.operands[i], *operands[i]);
    Shape order;
    for (size_t k = 0; k < sides[i].shape.size(); ++k) order.push_back(k);
    if (transposed[i]) std::swap(order[order.size() - 2], order.back());
    sides[i] = Transpose(sides[i], order);
  }
  return Values(BatchMatmul(sides[0], AffineOf(*node.operands[0]), sides[1],
                            AffineOf(*node.operands[1]), AffineOf(node)));
}

absl::StatusOr<Literal> Function(const Node& node, const Operands& operands) {
  const Node& from = *node.operands[0];
  if (from.type.element == ir::ElementType::kFloat32) {
    std::vector<float> results;
    for (float x : operands[0]->values<float>()) {
      results.push_back(RealFunction(node, x));
    }
    return Literal(std::move(results));
  }
  const Array<int8_t> input = ArrayOf(from, *operands[0]);
  const Affine of_input = AffineOf(from), to = AffineOf(node);
  switch (node.op) {
    case Op::kAbs:
      return Values(Abs(input, of_input, to));
    case Op::kLeakyRelu:
      return Values(LeakyRelu(input, of_input,
                              node.attr<ir::SlopeAttributes>().slope, to));
    case Op::kRescale:
      return Values<int8_t>(RescaleUint8(input, of_input, to));
    case Op::kSqrt:
      return Values(SquareRoot(input, of_input, to));
    case Op::kRsqrt:
      return Values(InverseSquareRoot(input, of_input, to));
    default:
      return Values<int8_t>(ByReal(input, of_input, to, [&](float x) {
        // Where the logarithm is undefined, the result is the lowest value.
        if (node.op != Op::kLog || x > 0) return RealFunction(node, x);
        return static_cast<float>(-128 - to.zero_point) * to.scale;
      }));
  }
}

absl::StatusOr<Literal> OfAnyType(const Node& node, const Operands& operands) {
  // The condition's type differs from that of the values.
  return operands[node.op == Op::kSelect]->VisitQuant([&](const auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    return Typed<T>(node, operands);
  });
}

}  // namespace systole::golden
