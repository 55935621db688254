// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Stored values in another type. A value that the type has stays the same.
// Other integers wrap around. Floats are truncated and saturate; NaN becomes
// the largest number.
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "host/ir/quant/kernels.h"
#include "host/ir/scalar.h"

namespace systole::ir {
namespace {

template <typename To>
To Truncated(double real) {
  using Limits = std::numeric_limits<To>;
  // The largest number may have no exact double; the power of two above it has.
  const double beyond = std::ldexp(1.0, Limits::digits);
  if (!(real < beyond)) return Limits::max();
  if (real < static_cast<double>(Limits::lowest())) return Limits::lowest();
  return static_cast<To>(real);
}

template <typename To, typename From>
To CastTo(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, Bool>) {
    return Bool(static_cast<double>(value) != 0);
  } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_integral_v<To>) {
    return Truncated<To>(static_cast<double>(value));
  } else {
    return To(static_cast<float>(value));
  }
}

}  // namespace

absl::StatusOr<Literal> EvaluateCast(const Node& node,
                                     const Operands& operands) {
  return operands[0]->Visit([&](const auto& from) {
    return WithElement(node.type.element, [&](auto tag) {
      using To = typename decltype(tag)::type;
      std::vector<To> values;
      values.reserve(from.size());
      for (const auto& value : from) values.push_back(CastTo<To>(value));
      return Literal(std::move(values));
    });
  });
}

}  // namespace systole::ir
