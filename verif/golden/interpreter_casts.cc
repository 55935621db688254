// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Converts stored values to another type, through a number type that holds them
// all.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "host/ir/scalar.h"
#include "verif/golden/interpreter_nodes.h"

namespace systole::golden {
namespace {

using Number = long double;  // represents every int64, uint64 and float

template <typename To>
To FromNumber(Number number, bool of_floats) {
  if constexpr (std::is_same_v<To, ir::Bool>) {
    return ir::Bool(number != 0);
  } else if constexpr (!std::is_integral_v<To>) {
    return To(static_cast<float>(number));
  } else if (of_floats) {
    constexpr Number kLow = std::numeric_limits<To>::min();
    constexpr Number kHigh = std::numeric_limits<To>::max();
    if (std::isnan(number)) return std::numeric_limits<To>::max();
    return static_cast<To>(std::clamp(std::trunc(number), kLow, kHigh));
  } else {
    // The number that the type has and that is equal modulo 2^bits.
    const Number size = std::ldexp(Number{1}, 8 * sizeof(To));
    Number rest = std::fmod(number, size);
    if (rest < std::numeric_limits<To>::min()) rest += size;
    if (rest > std::numeric_limits<To>::max()) rest -= size;
    return static_cast<To>(rest);
  }
}

}  // namespace

absl::StatusOr<Literal> Cast(const Node& node, const Operands& operands) {
  std::vector<Number> numbers;
  operands[0]->Visit([&](const auto& values) {
    for (const auto& value : values) {
      using From = std::decay_t<decltype(value)>;
      if constexpr (std::is_integral_v<From>) {
        numbers.push_back(static_cast<Number>(value));
      } else {
        numbers.push_back(static_cast<Number>(static_cast<double>(value)));
      }
    }
  });
  const bool of_floats = ir::IsFloat(operands[0]->element());
  return ir::WithElement(node.type.element, [&](auto tag) {
    using To = typename decltype(tag)::type;
    std::vector<To> values;
    for (const Number number : numbers)
      values.push_back(FromNumber<To>(number, of_floats));
    return Literal(std::move(values));
  });
}

absl::StatusOr<Literal> Converted(const Node& node, const Operands& operands) {
  const Node& from = *node.operands[0];
  if (node.op == Op::kDequantize) {
    std::vector<float> reals;
    operands[0]->VisitQuant([&](const auto& values) {
      for (const auto value : values) {
        const double steps = static_cast<double>(value) - ZeroOf(from);
        reals.push_back(static_cast<float>(ScaleOf(from) * steps));
      }
    });
    return Literal(std::move(reals));
  }
  // Steps of the result, before its zero point is added.
  std::vector<double> steps;
  if (from.type.element == ir::ElementType::kFloat32) {
    for (const float real : operands[0]->values<float>()) {
      const float rounded = std::round(real / ScaleOf(node));
      steps.push_back(std::isnan(rounded) ? 0 : rounded);
    }
  } else {
    const absl::StatusOr<Multiplier> m =
        QuantizeMultiplier(double{ScaleOf(from)} / ScaleOf(node));
    if (!m.ok()) return m.status();
    operands[0]->VisitQuant([&](const auto& values) {
      for (const auto value : values) {
        const int32_t centred =
            Saturate32(static_cast<int64_t>(value) - ZeroOf(from));
        steps.push_back(Requantize(centred, *m, Rounding::kDouble));
      }
    });
  }
  return ir::WithElement(
      node.type.element, [&](auto tag) -> absl::StatusOr<Literal> {
        using To = typename decltype(tag)::type;
        if constexpr (!std::is_integral_v<To>) {
          return absl::InvalidArgumentError("quantised to no integers");
        } else {
          constexpr Number kLow = std::numeric_limits<To>::min();
          constexpr Number kHigh = std::numeric_limits<To>::max();
          std::vector<To> values;
          for (const double step : steps)
            values.push_back(static_cast<To>(
                std::clamp(Number{step} + ZeroOf(node), kLow, kHigh)));
          return Literal(std::move(values));
        }
      });
}

}  // namespace systole::golden
