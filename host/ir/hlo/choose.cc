// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Comparisons, choices and conversions of elements.
#include <cmath>
#include <cstring>
#include <limits>

#include "host/ir/hlo/combiner.h"
#include "host/ir/hlo/elementwise.h"

namespace systole::ir {
namespace {

template <typename T, typename Key>
Literal Compared(Direction direction, const Literal& a, const Literal& b,
                 Key key) {
  const auto map = [&](const Literal& x, const Literal& y, auto f) {
    return MapTwo<Bool, T, T>(
        x, y, [f, key](T l, T r) -> Bool { return f(key(l), key(r)); });
  };
  const auto equal = [](auto x, auto y) { return x == y; };
  const auto differ = [](auto x, auto y) { return x != y; };
  const auto less = [](auto x, auto y) { return x < y; };
  const auto at_most = [](auto x, auto y) { return x <= y; };
  switch (direction) {
    case Direction::kEq:
      return map(a, b, equal);
    case Direction::kNe:
      return map(a, b, differ);
    case Direction::kGe:
      return map(b, a, at_most);
    case Direction::kGt:
      return map(b, a, less);
    case Direction::kLe:
      return map(a, b, at_most);
    case Direction::kLt:
      return map(a, b, less);
  }
  return Literal();
}

// An integer whose order is that of IEEE 754's totalOrder.
template <typename T>
int32_t TotalOrder(T value) {
  std::conditional_t<sizeof(T) == 4, int32_t, int16_t> bits;
  std::memcpy(&bits, &value, sizeof(bits));
  using Bits = decltype(bits);
  return bits < 0 ? bits ^ std::numeric_limits<Bits>::max() : bits;
}

// Rounds towards zero, saturates, and converts NaN to 0.
template <typename R>
R FromFloat(float value) {
  if (value != value) return 0;
  // The limits are powers of two, or one below. All are exact in double
  // precision except 2^63 - 1 and 2^64 - 1. These round up to the power of two,
  // so `>=` is the right comparison.
  constexpr double kLow = static_cast<double>(std::numeric_limits<R>::min());
  constexpr double kHigh = static_cast<double>(std::numeric_limits<R>::max());
  const double wide = value;
  if (wide <= kLow) return std::numeric_limits<R>::min();
  if (wide >= kHigh) return std::numeric_limits<R>::max();
  return static_cast<R>(wide);
}

template <typename R, typename A>
R ConvertOne(A value) {
  if constexpr (kIsBool<R>) {
    if constexpr (kIsFloat<A>) return static_cast<float>(value) != 0;
    if constexpr (!kIsFloat<A>) return value != A{};
  } else if constexpr (kIsFloat<R>) {
    if constexpr (kIsBool<A>) {
      return static_cast<R>(value ? 1.0f : 0.0f);
    } else if constexpr (kIsFloat<A>) {
      return static_cast<R>(Canonical(static_cast<float>(value)));
    } else {
      return static_cast<R>(static_cast<float>(value));
    }
  } else if constexpr (kIsFloat<A>) {
    return FromFloat<R>(static_cast<float>(value));
  } else if constexpr (kIsBool<A>) {
    return value ? 1 : 0;
  } else {
    return static_cast<R>(value);
  }
}

}  // namespace

absl::StatusOr<Literals> EvaluateHloCompare(const Node& node,
                                            const Operands& operands,
                                            Evaluation&) {
  const auto& a = node.attr<HloCompareAttributes>();
  const Literal& left = *operands[0];
  const Literal& right = *operands[1];
  return WithElement(left.element(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsFloat<T>) {
      if (a.type == CompareType::kTotalOrder) {
        return Only(Compared<T>(a.direction, left, right, TotalOrder<T>));
      }
      return Only(Compared<T>(a.direction, left, right,
                              [](T x) { return static_cast<float>(x); }));
    } else if constexpr (kIsBool<T>) {
      return Only(
          Compared<T>(a.direction, left, right, [](T x) { return x.value; }));
    } else {
      return Only(Compared<T>(a.direction, left, right, [](T x) { return x; }));
    }
  });
}

namespace {

Literal Select(const Operands& operands) {
  const Literal& condition = *operands[0];
  if (condition.size() == 1) {
    const int chosen = condition.values<Bool>()[0] ? 1 : 2;
    // With lanes, the chosen operand may have a single value and the other one
    // many.
    if (operands[chosen]->size() >= operands[3 - chosen]->size()) {
      return *operands[chosen];
    }
  }
  return operands[1]->Visit([&](const auto& chosen) {
    using T = typename std::decay_t<decltype(chosen)>::value_type;
    return MapThree<T, Bool, T, T>(condition, *operands[1], *operands[2],
                                   [](Bool c, T x, T y) { return c ? x : y; });
  });
}

// Makes NaNs of bf16 and f16 canonical, as a device stores them; other types
// are unchanged.
Literal WithOneNan(Literal literal) {
  const auto mapped = [&](auto tag) {
    using T = typename decltype(tag)::type;
    return MapOne<T, T>(literal, [](T x) {
      return static_cast<T>(Canonical(static_cast<float>(x)));
    });
  };
  if (literal.element() == ElementType::kBfloat16)
    return mapped(TypeTag<Bfloat16>());
  if (literal.element() == ElementType::kFloat16)
    return mapped(TypeTag<Float16>());
  return literal;
}

}  // namespace

absl::StatusOr<Literals> EvaluateHloSelect(const Node&,
                                           const Operands& operands,
                                           Evaluation&) {
  return Only(WithOneNan(Select(operands)));
}

absl::StatusOr<Literals> EvaluateClamp(const Node&, const Operands& operands,
                                       Evaluation&) {
  const auto by = [](Op op, const Literal& a, const Literal& b) {
    Literal result =
        Literal::Zeros(a.element(), a.size() == 1 ? b.size() : a.size());
    FindCombiner(op, a.element())
        ->map(result.size(), a.data(), a.size() == 1 ? 0 : 1, b.data(),
              b.size() == 1 ? 0 : 1, result.data());
    return result;
  };
  return Only(by(Op::kHloMinimum,
                 by(Op::kHloMaximum, *operands[1], *operands[0]),
                 *operands[2]));
}

namespace {

// Conversions between rare types go through a 64-bit integer, or through float
// if one of the types is a float. The results are the same, and only a third of
// the loops is compiled.
template <typename R, typename A>
Literal Converted(const Literal& values) {
  using Between =
      std::conditional_t<kIsFloat<R> || kIsFloat<A>, float, int64_t>;
  constexpr bool kDirect =
      kIsHot<R, A> || std::is_same_v<R, Between> || std::is_same_v<A, Between>;
  if constexpr (kDirect) {
    return MapOne<R, A>(values, ConvertOne<R, A>);
  } else {
    return Converted<R, Between>(Converted<Between, A>(values));
  }
}

}  // namespace

absl::StatusOr<Literals> EvaluateConvert(const Node& node,
                                         const Operands& operands,
                                         Evaluation&) {
  if (operands[0]->element() == node.type.element) return Only(*operands[0]);
  return WithElement(operands[0]->element(), [&](auto from) {
    using A = typename decltype(from)::type;
    return WithElement(node.type.element, [&](auto to) {
      using R = typename decltype(to)::type;
      return Only(Converted<R, A>(*operands[0]));
    });
  });
}

absl::StatusOr<Literals> EvaluateBitcastConvert(const Node& node,
                                                const Operands& operands,
                                                Evaluation&) {
  const Literal& from = *operands[0];
  if (from.element() == node.type.element) return Only(from);
  const int64_t bytes = from.size() * ElementBytes(from.element());
  return Only(Literal::FromBytes(
      node.type.element, bytes / ElementBytes(node.type.element), from.data()));
}

}  // namespace systole::ir
