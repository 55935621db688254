// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Elementwise operations of two operands. docs/hlo.md defines division by zero,
// shifts beyond the width and other cases that StableHLO leaves open.
#include <cmath>
#include <limits>

#include "host/ir/hlo/combiner.h"
#include "host/ir/hlo/elementwise.h"
#include "host/ir/hlo/functions.h"

namespace systole::ir {
namespace {

template <typename T>
T Divide(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(Word<T>{0} - static_cast<Word<T>>(a));
  }
  return static_cast<T>(a / b);
}

template <typename T>
T Remainder(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

template <typename T>
T Power(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) {
      if (base == -1) return exponent % 2 == 0 ? 1 : -1;
      return base == 1 ? 1 : 0;
    }
  }
  Word<T> result = 1, square = static_cast<Word<T>>(base);
  for (auto e = static_cast<std::make_unsigned_t<T>>(exponent); e != 0;
       e = static_cast<decltype(e)>(e >> 1)) {
    if (e & 1) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

template <Op kOp, typename T>
T Shift(T value, T by) {
  using U = std::make_unsigned_t<T>;
  constexpr U kBits = sizeof(T) * 8;
  const U amount = static_cast<U>(by);
  const auto bits = static_cast<U>(value);
  if constexpr (kOp == Op::kHloShiftLeft) {
    return amount >= kBits
               ? T{0}
               : static_cast<T>(static_cast<Word<T>>(bits) << amount);
  } else if constexpr (kOp == Op::kHloShiftRightLogical) {
    return amount >= kBits ? T{0} : static_cast<T>(bits >> amount);
  } else {
    const auto number = static_cast<std::make_signed_t<T>>(value);
    return static_cast<T>(number >> (amount >= kBits ? kBits - 1 : amount));
  }
}

template <typename T>
absl::StatusOr<Literal> OfFloats(Op op, const Literal& a, const Literal& b) {
  const auto map = [&](auto f) {
    return MapTwo<T, T, T>(a, b, [f](T x, T y) {
      return static_cast<T>(
          Canonical(f(static_cast<float>(x), static_cast<float>(y))));
    });
  };
  switch (op) {
    case Op::kHloSubtract:
      return map([](float x, float y) { return x - y; });
    case Op::kHloDivide:
      return map([](float x, float y) { return x / y; });
    case Op::kHloRemainder:
      return map([](float x, float y) { return std::fmod(x, y); });
    case Op::kHloPower:
      return map([](float x, float y) { return ir::Power(x, y); });
    case Op::kHloAtan2:
      return map([](float x, float y) { return ArcTangent2(x, y); });
    default:
      return absl::UnimplementedError(OpName(op));
  }
}

template <typename T>
absl::StatusOr<Literal> OfIntegers(Op op, const Literal& a, const Literal& b) {
  const auto map = [&](auto f) { return MapTwo<T, T, T>(a, b, f); };
  switch (op) {
    case Op::kHloSubtract:
      return map([](T x, T y) {
        return static_cast<T>(static_cast<Word<T>>(x) -
                              static_cast<Word<T>>(y));
      });
    case Op::kHloDivide:
      return map(Divide<T>);
    case Op::kHloRemainder:
      return map(Remainder<T>);
    case Op::kHloPower:
      return map(Power<T>);
    case Op::kHloShiftLeft:
      return map(Shift<Op::kHloShiftLeft, T>);
    case Op::kHloShiftRightLogical:
      return map(Shift<Op::kHloShiftRightLogical, T>);
    case Op::kHloShiftRightArithmetic:
      return map(Shift<Op::kHloShiftRightArithmetic, T>);
    default:
      return absl::UnimplementedError(OpName(op));
  }
}

}  // namespace

absl::StatusOr<Literals> EvaluateHloBinary(const Node& node,
                                           const Operands& operands,
                                           Evaluation&) {
  const Literal& a = *operands[0];
  const Literal& b = *operands[1];
  if (const auto combiner = FindCombiner(node.op, a.element())) {
    const int64_t size = a.size() == 1 ? b.size() : a.size();
    Literal result = Literal::Zeros(a.element(), size);
    combiner->map(size, a.data(), a.size() == 1 ? 0 : 1, b.data(),
                  b.size() == 1 ? 0 : 1, result.data());
    return Only(std::move(result));
  }
  return WithElement(a.element(), [&](auto tag) -> absl::StatusOr<Literals> {
    using T = typename decltype(tag)::type;
    absl::StatusOr<Literal> other;
    if constexpr (kIsFloat<T>) {
      other = OfFloats<T>(node.op, a, b);
    } else if constexpr (kIsInteger<T>) {
      other = OfIntegers<T>(node.op, a, b);
    } else {
      other = absl::UnimplementedError(OpName(node.op));
    }
    if (!other.ok()) return other.status();
    return Only(*std::move(other));
  });
}

}  // namespace systole::ir
