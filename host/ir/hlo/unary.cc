// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Elementwise operations of one operand.
#include <cmath>

#include "host/ir/hlo/elementwise.h"
#include "host/ir/hlo/functions.h"

namespace systole::ir {
namespace {

float Logistic(float x) { return 1.0f / (1.0f + Exp(-x)); }

float Sign(float x) {
  if (x == 0) return x;
  return x > 0 ? 1.0f : -1.0f;
}

template <typename T>
absl::StatusOr<Literal> OfFloats(Op op, const Literal& operand) {
  const auto map = [&](auto f) {
    return MapOne<T, T>(operand, [f](T x) {
      return static_cast<T>(Canonical(f(static_cast<float>(x))));
    });
  };
  switch (op) {
    case Op::kHloAbs:
      return map([](float x) { return std::fabs(x); });
    case Op::kHloNegate:
      return map([](float x) { return -x; });
    case Op::kHloSign:
      return map([](float x) { return x != x ? x : Sign(x); });
    case Op::kHloExponential:
      return map([](float x) { return Exp(x); });
    case Op::kHloLog:
      return map([](float x) { return Log(x); });
    case Op::kHloRsqrt:
      return map([](float x) { return Rsqrt(x); });
    case Op::kHloTanh:
      return map([](float x) { return Tanh(x); });
    case Op::kHloLogistic:
      return map([](float x) { return Logistic(x); });
    case Op::kHloSqrt:
      return map([](float x) { return std::sqrt(x); });
    case Op::kHloExponentialMinusOne:
      return map([](float x) { return ExpMinusOne(x); });
    case Op::kHloLogPlusOne:
      return map([](float x) { return LogPlusOne(x); });
    case Op::kHloCbrt:
      return map([](float x) { return CubeRoot(x); });
    case Op::kHloTan:
      return map([](float x) { return Tangent(x); });
    case Op::kHloSine:
      return map([](float x) { return Sine(x); });
    case Op::kHloCosine:
      return map([](float x) { return Cosine(x); });
    case Op::kHloFloor:
      return map([](float x) { return std::floor(x); });
    case Op::kHloCeil:
      return map([](float x) { return std::ceil(x); });
    case Op::kHloRoundNearestEven:
      return map([](float x) { return std::rint(x); });
    case Op::kHloRoundNearestAfz:
      return map([](float x) { return std::round(x); });
    default:
      return absl::UnimplementedError(OpName(op));
  }
}

template <typename T>
absl::StatusOr<Literal> OfIntegers(Op op, const Literal& operand) {
  using U = std::make_unsigned_t<T>;
  const auto map = [&](auto f) { return MapOne<T, T>(operand, f); };
  const auto negative = [](T x) {
    return static_cast<T>(Word<T>{0} - static_cast<Word<T>>(x));
  };
  switch (op) {
    case Op::kHloNot:
      return map([](T x) { return static_cast<T>(~x); });
    case Op::kHloAbs:
      return map([negative](T x) { return x < T{0} ? negative(x) : x; });
    case Op::kHloNegate:
      return map(negative);
    case Op::kHloSign:
      return map([](T x) {
        return static_cast<T>(x > T{0} ? 1 : (x < T{0} ? -1 : 0));
      });
    case Op::kHloPopcnt:
      return map([](T x) {
        return static_cast<T>(__builtin_popcountll(static_cast<U>(x)));
      });
    case Op::kHloCountLeadingZeros:
      return map([](T x) {
        constexpr int kUnused = 64 - 8 * static_cast<int>(sizeof(T));
        const uint64_t bits = static_cast<U>(x);
        return static_cast<T>((bits ? __builtin_clzll(bits) : 64) - kUnused);
      });
    default:
      return absl::UnimplementedError(OpName(op));
  }
}

// Rounds to an IEEE format of fewer bits: the significand to nearest even,
// values above the largest number to infinity, values below the smallest normal
// number to zero.
float Reduced(float value, int exponent_bits, int mantissa_bits) {
  const uint32_t bits = BitsOf(value);
  const uint32_t sign = bits & 0x80000000;
  uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude >= kInfinityBits) return Canonical(value);
  if (mantissa_bits < 23) {
    const int drop = 23 - mantissa_bits;
    const uint32_t half = uint32_t{1} << (drop - 1);
    magnitude += half - 1 + (magnitude >> drop & 1);
    magnitude &= ~((uint32_t{1} << drop) - 1);
  }
  if (exponent_bits < 8) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>(magnitude >> 23) - 127;
    if (exponent > bias) magnitude = kInfinityBits;
    if (exponent < 1 - bias) magnitude = 0;
  }
  return FromBits(sign | magnitude);
}

}  // namespace

absl::StatusOr<Literals> EvaluateHloUnary(const Node& node,
                                          const Operands& operands,
                                          Evaluation&) {
  const Literal& operand = *operands[0];
  return WithElement(
      operand.element(), [&](auto tag) -> absl::StatusOr<Literals> {
        using T = typename decltype(tag)::type;
        absl::StatusOr<Literal> result = absl::UnimplementedError("");
        if constexpr (kIsFloat<T>) {
          if (node.op == Op::kHloIsFinite) {
            return Only(MapOne<Bool, T>(operand, [](T x) {
              return std::isfinite(static_cast<float>(x));
            }));
          }
          result = OfFloats<T>(node.op, operand);
        } else if constexpr (kIsInteger<T>) {
          result = OfIntegers<T>(node.op, operand);
        } else if (node.op == Op::kHloNot) {
          result = MapOne<Bool, Bool>(operand, [](Bool x) { return !x; });
        }
        if (!result.ok()) return result.status();
        return Only(*std::move(result));
      });
}

absl::StatusOr<Literals> EvaluateReducePrecision(const Node& node,
                                                 const Operands& operands,
                                                 Evaluation&) {
  const auto& a = node.attr<HloReducePrecisionAttributes>();
  const int exponent = static_cast<int>(a.exponent_bits);
  const int mantissa = static_cast<int>(a.mantissa_bits);
  return WithElement(
      operands[0]->element(), [&](auto tag) -> absl::StatusOr<Literals> {
        using T = typename decltype(tag)::type;
        if constexpr (kIsFloat<T>) {
          return Only(MapOne<T, T>(*operands[0], [=](T x) {
            return static_cast<T>(
                Reduced(static_cast<float>(x), exponent, mantissa));
          }));
        }
        return absl::UnimplementedError(OpName(node.op));
      });
}

}  // namespace systole::ir
