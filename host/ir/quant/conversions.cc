// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Between floats and integers with a scale, and from one scale to another.
#include <cmath>
#include <limits>
#include <utility>

#include "host/ir/quant/fixed_point.h"
#include "host/ir/quant/kernels.h"

namespace systole::ir {
namespace {

// Multiplies centred values by a factor.
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

template <typename T>
T Saturated(double value) {
  return static_cast<T>(std::clamp(value, double{std::numeric_limits<T>::min()},
                                   double{std::numeric_limits<T>::max()}));
}

// Calls function(zero) with a zero of the result's type.
template <typename Function>
absl::StatusOr<Literal> ForResultType(const Node& node, Function function) {
  switch (node.type.element) {
    case ElementType::kInt8:
      return function(int8_t{0});
    case ElementType::kInt16:
      return function(int16_t{0});
    default:
      return function(int32_t{0});
  }
}

absl::StatusOr<Literal> Quantised(const Node& node, const Literal& input) {
  return ForResultType(node, [&](auto zero) -> absl::StatusOr<Literal> {
    using T = decltype(zero);
    std::vector<T> values;
    for (float real : input.values<float>()) {
      const float steps = std::round(real / ScaleOf(node));
      const double sum = (std::isnan(steps) ? 0 : double{steps}) + ZeroOf(node);
      values.push_back(Saturated<T>(sum));
    }
    return Literal(std::move(values));
  });
}

// Converts numbers to another scale and type.
absl::StatusOr<Literal> Requantised(const Node& node, const Literal& input) {
  const Node& from = *node.operands[0];
  const absl::StatusOr<Factor> factor =
      FactorOf(double{ScaleOf(from)} / ScaleOf(node));
  if (!factor.ok()) return factor.status();
  return ForResultType(node, [&](auto zero) -> absl::StatusOr<Literal> {
    using T = decltype(zero);
    std::vector<T> values;
    input.VisitQuant([&](const auto& numbers) {
      for (const auto& number : numbers) {
        const int64_t centred = static_cast<int64_t>(number) - ZeroOf(from);
        const int64_t scaled = Scale(Saturate(centred), *factor);
        values.push_back(
            Saturated<T>(static_cast<double>(scaled + ZeroOf(node))));
      }
    });
    return Literal(std::move(values));
  });
}

Literal Dequantised(const Node& from, const Literal& input) {
  std::vector<float> values;
  input.VisitQuant([&](const auto& numbers) {
    for (const auto& number : numbers) {
      const double centred = static_cast<double>(number) - ZeroOf(from);
      values.push_back(static_cast<float>(double{ScaleOf(from)} * centred));
    }
  });
  return Literal(std::move(values));
}

}  // namespace

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
  return Requantised(node, *operands[0]);
}

}  // namespace systole::ir
