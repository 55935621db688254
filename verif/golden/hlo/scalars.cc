// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/hlo/scalars.h"

#include <cmath>
#include <cstdlib>

#include "verif/golden/fp32.h"
#include "verif/golden/functions.h"

namespace systole::golden::hlo {
namespace {

using ir::Op;

constexpr int kMantissaOfHalf = 10;

// The bits of IEEE binary16 for a number.
uint64_t Half(float number) {
  const uint64_t sign = std::signbit(number) ? 0x8000 : 0;
  if (std::isnan(number)) return 0x7E00;
  const double size = std::fabs(double{number});
  if (size >= 65520) return sign | 0x7C00;
  int exponent = size == 0 ? -14 : std::max(std::ilogb(size), -14);
  auto steps = static_cast<uint64_t>(
      std::nearbyint(std::ldexp(size, kMantissaOfHalf - exponent)));
  if (steps < 1024) return sign | steps;
  if (steps == 2048) {
    steps = 1024;
    ++exponent;
  }
  return sign | static_cast<uint64_t>(exponent + 15) << kMantissaOfHalf |
         (steps - 1024);
}

float FromHalf(uint64_t bits) {
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  const auto exponent = static_cast<int>(bits >> kMantissaOfHalf & 31);
  const auto steps = static_cast<int>(bits & 1023);
  if (exponent == 31)
    return steps != 0 ? fp32::FromBits(0x7FC00000) : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(steps), -24);
  return sign * std::ldexp(static_cast<float>(1024 + steps),
                           exponent - 15 - kMantissaOfHalf);
}

float BinaryReal(Op op, float a, float b) {
  switch (op) {
    case Op::kHloAdd:
      return a + b;
    case Op::kHloSubtract:
      return a - b;
    case Op::kHloMultiply:
      return a * b;
    case Op::kHloDivide:
      return a / b;
    case Op::kHloRemainder:
      return std::fmod(a, b);
    case Op::kHloMaximum:
      return fp32::Max(a, b);
    case Op::kHloMinimum:
      return fp32::Min(a, b);
    case Op::kHloPower:
      return Power(a, b);
    case Op::kHloAtan2:
      return Angle(a, b);
    default:
      std::abort();
  }
}

uint64_t WholePower(Element element, uint64_t base, uint64_t exponent) {
  const int64_t x = Whole(element, base), y = Whole(element, exponent);
  if (HasSign(element) && y < 0) {
    if (x == 1) return 1;
    if (x == -1) return Wrapped(element, y % 2 == 0 ? 1 : ~uint64_t{0});
    return 0;
  }
  uint64_t power = 1;
  for (uint64_t left = exponent; left != 0; left >>= 1, base *= base) {
    if ((left & 1) != 0) power *= base;
  }
  return Wrapped(element, power);
}

uint64_t BinaryWhole(Op op, Element element, uint64_t a, uint64_t b) {
  const bool has_sign = HasSign(element);
  const int64_t x = Whole(element, a), y = Whole(element, b);
  const auto width = static_cast<uint64_t>(Width(element));
  const bool less = has_sign ? x < y : a < b;
  switch (op) {
    case Op::kHloAdd:
      return Wrapped(element, a + b);
    case Op::kHloSubtract:
      return Wrapped(element, a - b);
    case Op::kHloMultiply:
      return Wrapped(element, a * b);
    case Op::kHloDivide:
      if (b == 0) return Wrapped(element, ~uint64_t{0});
      if (has_sign && y == -1) return Wrapped(element, -a);
      return Wrapped(element, has_sign ? static_cast<uint64_t>(x / y) : a / b);
    case Op::kHloRemainder:
      if (b == 0) return a;
      if (has_sign && y == -1) return 0;
      return Wrapped(element, has_sign ? static_cast<uint64_t>(x % y) : a % b);
    case Op::kHloMaximum:
      return less ? b : a;
    case Op::kHloMinimum:
      return less ? a : b;
    case Op::kHloPower:
      return WholePower(element, a, b);
    case Op::kHloAnd:
      return a & b;
    case Op::kHloOr:
      return a | b;
    case Op::kHloXor:
      return a ^ b;
    case Op::kHloShiftLeft:
      return b >= width ? 0 : Wrapped(element, a << b);
    case Op::kHloShiftRightLogical:
      return b >= width ? 0 : a >> b;
    case Op::kHloShiftRightArithmetic: {
      // The sign bit is shifted in, also for unsigned numbers.
      const int64_t wide = static_cast<int64_t>(a << (64 - width));
      const int64_t whole = wide >> (64 - width);
      return Wrapped(element,
                     static_cast<uint64_t>(whole >> (b >= width ? 63 : b)));
    }
    default:
      std::abort();
  }
}

uint64_t BinaryTruth(Op op, uint64_t a, uint64_t b) {
  switch (op) {
    case Op::kHloAdd:
    case Op::kHloMaximum:
    case Op::kHloOr:
      return a | b;
    case Op::kHloMultiply:
    case Op::kHloMinimum:
    case Op::kHloAnd:
      return a & b;
    case Op::kHloXor:
      return a ^ b;
    default:
      std::abort();
  }
}

float UnaryReal(Op op, float x) {
  const uint32_t bits = fp32::ToBits(x);
  switch (op) {
    case Op::kHloAbs:
      return std::fabs(x);
    case Op::kHloNegate:
      return -x;
    case Op::kHloSign:
      return x == 0 ? x : x < 0 ? -1.0f : x > 0 ? 1.0f : x;
    case Op::kHloExponential:
      return Exponential(x);
    case Op::kHloExponentialMinusOne:
      return ExponentialMinusOne(x);
    case Op::kHloLog:
      return Logarithm(x);
    case Op::kHloLogPlusOne:
      return LogPlusOne(x);
    case Op::kHloLogistic:
      return 1 / (1 + Exponential(-x));
    case Op::kHloSqrt:
      return std::sqrt(x);
    case Op::kHloRsqrt:
      return fp32::FromBits(ReciprocalSqrt(bits));
    case Op::kHloCbrt:
      return CubeRoot(x);
    case Op::kHloTanh:
      return fp32::FromBits(Tanh(bits));
    case Op::kHloTan:
      return Sine(x) / Cosine(x);
    case Op::kHloSine:
      return Sine(x);
    case Op::kHloCosine:
      return Cosine(x);
    case Op::kHloFloor:
      return std::floor(x);
    case Op::kHloCeil:
      return std::ceil(x);
    case Op::kHloRoundNearestEven:
      return std::nearbyint(x);
    case Op::kHloRoundNearestAfz:
      return std::round(x);
    default:
      std::abort();
  }
}

uint64_t UnaryWhole(Op op, Element element, uint64_t a) {
  const int64_t x = Whole(element, a);
  switch (op) {
    case Op::kHloNot:
      return Wrapped(element, ~a);
    case Op::kHloAbs:
      return HasSign(element) && x < 0 ? Wrapped(element, -a) : a;
    case Op::kHloNegate:
      return Wrapped(element, -a);
    case Op::kHloSign:
      return Wrapped(
          element, HasSign(element) && x < 0 ? ~uint64_t{0} : uint64_t{a != 0});
    case Op::kHloPopcnt: {
      uint64_t ones = 0;
      for (int i = 0; i < Width(element); ++i) ones += a >> i & 1;
      return ones;
    }
    case Op::kHloCountLeadingZeros: {
      uint64_t zeros = 0;
      for (int i = Width(element) - 1; i >= 0 && (a >> i & 1) == 0; --i)
        ++zeros;
      return zeros;
    }
    default:
      std::abort();
  }
}

// An integer whose order is that of IEEE 754's totalOrder.
int64_t TotalOrder(Element element, uint64_t bits) {
  const int width = Width(element);
  const uint64_t sign = uint64_t{1} << (width - 1);
  const auto size = static_cast<int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -size - 1 : size;
}

template <typename T>
bool Ordered(ir::Direction direction, T a, T b) {
  switch (direction) {
    case ir::Direction::kEq:
      return a == b;
    case ir::Direction::kNe:
      return a != b;
    case ir::Direction::kGe:
      return a >= b;
    case ir::Direction::kGt:
      return a > b;
    case ir::Direction::kLe:
      return a <= b;
    case ir::Direction::kLt:
      return a < b;
  }
  std::abort();
}

// Rounds towards zero, saturates, and converts NaN to 0.
uint64_t ToWhole(Element element, float number) {
  if (std::isnan(number)) return 0;
  const int digits = Width(element) - (HasSign(element) ? 1 : 0);
  const double beyond = std::ldexp(1.0, digits);
  const double whole = std::trunc(double{number});
  const uint64_t ones = ~uint64_t{0} >> (64 - digits);
  if (whole >= beyond) return ones;
  if (!HasSign(element)) return whole <= 0 ? 0 : static_cast<uint64_t>(whole);
  if (whole < -beyond) return ones + 1;
  return Wrapped(element, static_cast<uint64_t>(static_cast<int64_t>(whole)));
}

}  // namespace

int Width(Element element) {
  return element == Element::kBool ? 1 : 8 * ir::ElementBytes(element);
}

bool IsReal(Element element) {
  return element == Element::kBfloat16 || element == Element::kFloat16 ||
         element == Element::kFloat32;
}

bool HasSign(Element element) {
  return element == Element::kInt8 || element == Element::kInt16 ||
         element == Element::kInt32 || element == Element::kInt64;
}

uint64_t Wrapped(Element element, uint64_t number) {
  return number & (~uint64_t{0} >> (64 - Width(element)));
}

int64_t Whole(Element element, uint64_t bits) {
  if (!HasSign(element)) return static_cast<int64_t>(bits);
  const int unused = 64 - Width(element);
  return static_cast<int64_t>(bits << unused) >> unused;
}

float Real(Element element, uint64_t bits) {
  if (element == Element::kFloat16) return FromHalf(bits);
  if (element == Element::kBfloat16) bits <<= 16;
  return fp32::FromBits(static_cast<uint32_t>(bits));
}

uint64_t FromReal(Element element, float number) {
  if (element == Element::kFloat16) return Half(number);
  if (element == Element::kBfloat16)
    return fp32::ToBits(fp32::Bf16(number)) >> 16;
  return fp32::ToBits(fp32::Canonical(number));
}

uint64_t Binary(Op op, Element element, uint64_t a, uint64_t b) {
  if (element == Element::kBool) return BinaryTruth(op, a, b);
  if (!IsReal(element)) return BinaryWhole(op, element, a, b);
  return FromReal(element, BinaryReal(op, Real(element, a), Real(element, b)));
}

uint64_t Unary(Op op, Element element, uint64_t a) {
  if (element == Element::kBool) return a ^ 1;
  if (!IsReal(element)) return UnaryWhole(op, element, a);
  const float x = Real(element, a);
  if (op == Op::kHloIsFinite) return std::isfinite(x) ? 1 : 0;
  return FromReal(element, UnaryReal(op, x));
}

bool Compare(const ir::HloCompareAttributes& how, Element element, uint64_t a,
             uint64_t b) {
  if (IsReal(element)) {
    if (how.type == ir::CompareType::kTotalOrder)
      return Ordered(how.direction, TotalOrder(element, a),
                     TotalOrder(element, b));
    return Ordered(how.direction, Real(element, a), Real(element, b));
  }
  if (HasSign(element))
    return Ordered(how.direction, Whole(element, a), Whole(element, b));
  return Ordered(how.direction, a, b);
}

uint64_t Convert(Element from, Element to, uint64_t bits) {
  if (from == to) return bits;  // NaNs too
  if (to == Element::kBool)
    return (IsReal(from) ? Real(from, bits) != 0 : bits != 0) ? 1 : 0;
  if (IsReal(from)) {
    return IsReal(to) ? FromReal(to, Real(from, bits))
                      : ToWhole(to, Real(from, bits));
  }
  if (!IsReal(to)) return Wrapped(to, static_cast<uint64_t>(Whole(from, bits)));
  return FromReal(to, HasSign(from) ? static_cast<float>(Whole(from, bits))
                                    : static_cast<float>(bits));
}

uint64_t ReducePrecision(const ir::HloReducePrecisionAttributes& how,
                         Element element, uint64_t bits) {
  const float number = Real(element, bits);
  if (!std::isfinite(number) || number == 0) return FromReal(element, number);
  const auto mantissa = static_cast<int>(how.mantissa_bits);
  const int most = (1 << (how.exponent_bits - 1)) - 1;
  const int exponent = std::max(std::ilogb(number), -126);
  // Exact in double precision.
  const double steps =
      std::ldexp(std::fabs(double{number}), mantissa - exponent);
  double whole = std::nearbyint(steps);
  // Without significand bits, the exponent's lowest bit decides a tie.
  if (mantissa == 0 && steps == 1.5) whole = exponent % 2 == 0 ? 2 : 1;
  double rounded =
      std::copysign(std::ldexp(whole, exponent - mantissa), number);
  if (how.exponent_bits < 8) {
    if (std::fabs(rounded) >= std::ldexp(1.0, most + 1)) rounded *= INFINITY;
    if (std::fabs(rounded) < std::ldexp(1.0, 1 - most)) rounded *= 0.0;
  }
  return FromReal(element, static_cast<float>(rounded));
}

}  // namespace systole::golden::hlo
