// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include <cmath>
#include <limits>
#include <utility>

#include "host/ir/quant/fixed_point.h"
#include "host/ir/quant/kernels.h"

namespace systole::ir {
namespace {

constexpr int kAddShift = 20;
const Ints& WholeRange() {
  static const auto& range = *new Ints{-128, 127};
  return range;
}

// Strides of an operand in terms of the result's index; 0 where it is
// broadcast.
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

// Computes each value of the result by function(offsets of its operands).
template <typename T, typename Function>
std::vector<T> ForEachElement(const Node& node, Function function) {
  const Ints& shape = node.type.shape;
  std::vector<Ints> strides;
  for (const Node* operand : node.operands) {
    strides.push_back(StretchedStrides(operand->type.shape, shape));
  }
  std::vector<T> values(node.type.elements());
  Ints index(shape.size(), 0), offsets(strides.size());
  for (T& value : values) {
    for (size_t i = 0; i < strides.size(); ++i) {
      offsets[i] = Dot(strides[i], index);
    }
    value = function(offsets);
    Advance(shape, index);
  }
  return values;
}

// Calls function(a, b) with centred values for each element of the result; the
// function returns the centred result.
template <typename Function>
Literal ForEachPair(const Node& node, const Operands& operands,
                    Function function) {
  const auto* limits = node.attributes.If<ClampAttributes>();
  const Ints& clamp = limits ? limits->clamp : WholeRange();
  const std::vector<int8_t>& a = operands[0]->values<int8_t>();
  const std::vector<int8_t>& b = operands[1]->values<int8_t>();
  const int32_t zero_a = ZeroOf(*node.operands[0]);
  const int32_t zero_b = ZeroOf(*node.operands[1]);
  return Literal(ForEachElement<int8_t>(node, [&](const Ints& at) {
    return ToOutput(function(a[at[0]] - zero_a, b[at[1]] - zero_b),
                    ZeroOf(node), clamp);
  }));
}

absl::StatusOr<std::vector<Factor>> FactorsOf(std::vector<double> reals) {
  std::vector<Factor> factors;
  for (double real : reals) {
    const absl::StatusOr<Factor> factor = FactorOf(real);
    if (!factor.ok()) return factor.status();
    factors.push_back(*factor);
  }
  return factors;
}

// Factors that bring both operands to twice the larger scale.
std::vector<double> CommonScale(const Node& node, double& twice) {
  const double left = ScaleOf(*node.operands[0]);
  const double right = ScaleOf(*node.operands[1]);
  twice = 2 * std::max(left, right);
  return {left / twice, right / twice};
}

absl::StatusOr<Literal> Sum(const Node& node, const Operands& operands) {
  double twice = 0;
  std::vector<double> reals = CommonScale(node, twice);
  reals.push_back(twice / ((1 << kAddShift) * double{ScaleOf(node)}));
  absl::StatusOr<std::vector<Factor>> factors = FactorsOf(reals);
  if (!factors.ok()) return factors.status();
  // A subtraction adds the second operand with a negative factor.
  Factor& second = (*factors)[1];
  if (node.op == Op::kSub) second.multiplier = -second.multiplier;
  return ForEachPair(node, operands, [&](int32_t a, int32_t b) {
    const int32_t sum = Scale(a * (1 << kAddShift), (*factors)[0]) +
                        Scale(b * (1 << kAddShift), second);
    return Scale(sum, (*factors)[2]);
  });
}

absl::StatusOr<Literal> SquaredDifference(const Node& node,
                                          const Operands& operands) {
  constexpr int kShift = 7;
  double twice = 0;
  std::vector<double> reals = CommonScale(node, twice);
  // The square is of single precision, as specified.
  const float square = static_cast<float>(twice) * static_cast<float>(twice);
  reals.push_back(square / (ScaleOf(node) * (1 << 2 * kShift)));
  const absl::StatusOr<std::vector<Factor>> factors = FactorsOf(reals);
  if (!factors.ok()) return factors.status();
  return ForEachPair(node, operands, [&](int32_t a, int32_t b) {
    const int32_t difference = Scale(a * (1 << kShift), (*factors)[0]) -
                               Scale(b * (1 << kShift), (*factors)[1]);
    return Scale(difference * difference, (*factors)[2]);
  });
}

absl::StatusOr<Literal> Prelu(const Node& node, const Operands& operands) {
  // Single precision, as specified.
  const float input = ScaleOf(*node.operands[0]);
  const float above = input / ScaleOf(node);
  const float below = input * ScaleOf(*node.operands[1]) / ScaleOf(node);
  const absl::StatusOr<std::vector<Factor>> factors = FactorsOf({above, below});
  if (!factors.ok()) return factors.status();
  return ForEachPair(node, operands, [&](int32_t x, int32_t slope) {
    return x >= 0 ? Scale(x, (*factors)[0]) : Scale(x * slope, (*factors)[1]);
  });
}

// Arithmetic of plain integers is modulo 2^32; maximum and minimum take any
// type.
template <typename T>
T Plain(Op op, T a, T b) {
  const auto left = static_cast<uint32_t>(a), right = static_cast<uint32_t>(b);
  switch (op) {
    case Op::kAdd:
      return static_cast<T>(left + right);
    case Op::kSub:
      return static_cast<T>(left - right);
    case Op::kMul:
      return static_cast<T>(left * right);
    case Op::kMaximum:
      return std::max(a, b);
    default:
      return std::min(a, b);
  }
}

template <typename T>
Literal PlainBinary(const Node& node, const Operands& operands) {
  const std::vector<T>& a = operands[0]->values<T>();
  const std::vector<T>& b = operands[1]->values<T>();
  return Literal(ForEachElement<T>(node, [&](const Ints& at) {
    return Plain(node.op, a[at[0]], b[at[1]]);
  }));
}

bool Compared(Op op, int32_t a, int32_t b) {
  switch (op) {
    case Op::kEqual:
      return a == b;
    case Op::kNotEqual:
      return a != b;
    case Op::kLess:
      return a < b;
    default:
      return a <= b;
  }
}

}  // namespace

absl::StatusOr<Literal> EvaluateBinary(const Node& node,
                                       const Operands& operands) {
  if (node.op == Op::kDiv || node.op == Op::kPow) {
    const std::vector<float>& a = operands[0]->values<float>();
    const std::vector<float>& b = operands[1]->values<float>();
    if (node.op == Op::kPow) {
      return Literal(ForEachElement<float>(
          node, [&](const Ints& at) { return std::pow(a[at[0]], b[at[1]]); }));
    }
    constexpr float kMost = std::numeric_limits<float>::max();
    return Literal(ForEachElement<float>(node, [&](const Ints& at) {
      return std::clamp(a[at[0]] / b[at[1]], -kMost, kMost);
    }));
  }
  if (!node.type.quantization) return PlainBinary<int32_t>(node, operands);
  switch (node.op) {
    case Op::kMaximum:
    case Op::kMinimum:
      return PlainBinary<int8_t>(node, operands);
    case Op::kSquaredDifference:
      return SquaredDifference(node, operands);
    case Op::kPrelu:
      return Prelu(node, operands);
    case Op::kMul:
      break;
    default:
      return Sum(node, operands);
  }
  // Single precision, as specified.
  const float real =
      ScaleOf(*node.operands[0]) * ScaleOf(*node.operands[1]) / ScaleOf(node);
  const absl::StatusOr<Factor> factor = FactorOf(real);
  if (!factor.ok()) return factor.status();
  return ForEachPair(node, operands, [&](int32_t a, int32_t b) {
    return Scale(a * b, *factor);
  });
}

absl::StatusOr<Literal> EvaluateCompare(const Node& node,
                                        const Operands& operands) {
  constexpr int kShift = 8;
  std::vector<int32_t> values[2];
  for (int i : {0, 1}) {
    const Node& from = *node.operands[i];
    if (from.type.element == ElementType::kInt32) {
      values[i] = operands[i]->values<int32_t>();
      continue;
    }
    const absl::StatusOr<Factor> factor = FactorOf(ScaleOf(from));
    if (!factor.ok()) return factor.status();
    for (int8_t value : operands[i]->values<int8_t>()) {
      values[i].push_back(
          Scale((value - ZeroOf(from)) * (1 << kShift), *factor));
    }
  }
  return Literal(ForEachElement<int8_t>(node, [&](const Ints& at) {
    return Compared(node.op, values[0][at[0]], values[1][at[1]]);
  }));
}

absl::StatusOr<Literal> EvaluateSelect(const Node& node,
                                       const Operands& operands) {
  const std::vector<int8_t>& condition = operands[0]->values<int8_t>();
  return operands[1]->VisitQuant([&](const auto& chosen) {
    using Values = std::decay_t<decltype(chosen)>;
    const Values& other = operands[2]->values<typename Values::value_type>();
    return Literal(
        ForEachElement<typename Values::value_type>(node, [&](const Ints& at) {
          return condition[at[0]] != 0 ? chosen[at[1]] : other[at[2]];
        }));
  });
}

namespace {

// Means from sums of `count` centred values.
absl::StatusOr<Literal> Means(const Node& node,
                              const std::vector<int64_t>& sums, int64_t count) {
  const absl::StatusOr<Factor> factor =
      FactorOf(double{ScaleOf(*node.operands[0])} / ScaleOf(node));
  if (!factor.ok()) return factor.status();
  const Factor mean = MeanFactor(*factor, count);
  std::vector<int8_t> values;
  for (int64_t sum : sums) {
    values.push_back(ToOutput(Scale(static_cast<int32_t>(sum), mean),
                              ZeroOf(node), WholeRange()));
  }
  return Literal(std::move(values));
}

Literal Sums(const Node& node, const std::vector<int64_t>& sums,
             int64_t count) {
  std::vector<int8_t> values;
  for (int64_t sum : sums) {
    values.push_back(
        ToOutput(RescaledSum(sum, count, node.operands[0]->quantization(),
                             ScaleOf(node)),
                 ZeroOf(node), WholeRange()));
  }
  return Literal(std::move(values));
}

template <typename T>
T Reduced(Op op, T a, T b) {
  switch (op) {
    case Op::kSum:
      return Plain(Op::kAdd, a, b);
    case Op::kReduceProd:
      return Plain(Op::kMul, a, b);
    case Op::kReduceMax:
      return std::max(a, b);
    default:
      return std::min(a, b);
  }
}

}  // namespace

absl::StatusOr<Literal> EvaluateReduce(const Node& node,
                                       const Operands& operands) {
  const Node& from = *node.operands[0];
  Ints kept = from.type.shape;
  int64_t count = 1;
  for (int64_t axis : node.attr<ReduceAttributes>().axes) {
    count *= kept[axis];
    kept[axis] = 1;
  }
  // Result position of each value of the operand.
  const Ints strides = StretchedStrides(kept, from.type.shape);
  Ints index(from.type.shape.size(), 0);
  std::vector<int64_t> targets(from.type.elements());
  for (int64_t& target : targets) {
    target = Dot(strides, index);
    Advance(from.type.shape, index);
  }
  if (node.type.quantization && (node.op == Op::kMean || node.op == Op::kSum)) {
    const std::vector<int8_t>& values = operands[0]->values<int8_t>();
    std::vector<int64_t> sums(node.type.elements(), 0);
    for (size_t i = 0; i < targets.size(); ++i) {
      sums[targets[i]] += values[i] - ZeroOf(from);
    }
    if (node.op == Op::kSum) return Sums(node, sums, count);
    return Means(node, sums, count);
  }
  return operands[0]->VisitQuant([&](const auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    std::vector<T> results(node.type.elements());
    std::vector<bool> begun(results.size());
    for (size_t i = 0; i < targets.size(); ++i) {
      T& result = results[targets[i]];
      result =
          begun[targets[i]] ? Reduced(node.op, result, values[i]) : values[i];
      begun[targets[i]] = true;
    }
    return Literal(std::move(results));
  });
}

}  // namespace systole::ir
